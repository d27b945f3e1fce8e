import { safeName } from '../format';
import { Icon } from './Icon';
import { copyText } from './states';
import { toast } from './Toast';

/** The command that does the same in a terminal, with a button that copies it. */
export function CliLine({ command }: { command: string }) {
  const copy = async () => {
    await copyText(command);
    toast('Command copied');
  };
  return (
    <div class="cli">
      <Icon name="terminal" />
      <code tabIndex={0} aria-label="Command line">{safeName(command)}</code>
      <button type="button" class="icon-button" aria-label="Copy command" title="Copy command" onClick={() => void copy()}>
        <Icon name="copy" />
      </button>
    </div>
  );
}
