import { save } from '../../canvas/export';
import { Menu } from '../../components/Menu';
import { reportCsv, reportJsonl, reportMarkdown, type Report } from './report';

export function ExportMenu({ report }: { report: Report }) {
  const item = (text: string, extension: string, type: string, write: (report: Report) => string) => ({
    text, act: () => save(`${report.file}.${extension}`, new Blob([write(report)], { type })),
  });
  return (
    <span class="canvas-end">
      <Menu
        label="Export" class="small"
        items={[
          item('CSV table', 'csv', 'text/csv', reportCsv), item('JSON Lines', 'jsonl', 'application/jsonl', reportJsonl),
          item('Markdown summary', 'md', 'text/markdown', reportMarkdown),
        ]}
      >
        Export
      </Menu>
    </span>
  );
}
