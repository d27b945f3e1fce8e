import type { ApiError } from '../api/client';
import type { Problem } from '../api/types';
import { safeName } from '../format';
import { CliLine } from './CliLine';
import { remedyLines } from './remedy';
import { ErrorBanner } from './states';

interface What {
  code: string;
  text: string;
  where: string;
  remedy: string;
}

export const troubleOf = ({ problem }: ApiError): What => ({ code: problem.code, text: problem.detail || problem.title, where: '', remedy: problem.hint });

/** Why an act cannot be done, and what can: commands of the remedy can be copied. */
export function Trouble({ of, again }: { of: What | Problem; again?: () => void }) {
  const lines = remedyLines(of.remedy);
  const words = lines.filter(({ command }) => !command).map(({ text }) => text);
  return (
    <div class="trouble">
      <ErrorBanner what={`✕ ${safeName(of.text)}`} why={safeName([of.where, ...words].filter(Boolean).join(' · '))} code={of.code}>
        {again && <button type="button" onClick={again}>Plan again</button>}
      </ErrorBanner>
      {lines.filter(({ command }) => command).map(({ text }) => <CliLine key={text} command={text} />)}
    </div>
  );
}
