export interface RemedyLine {
  text: string;
  command: boolean; // to be pasted into a terminal
}

/** A remedy line by line; a call of the program with an address is a command, and the rest is text. */
export function remedyLines(remedy: string): RemedyLine[] {
  return remedy.split('\n').map((line) => line.trim()).filter((line) => line !== '')
    .map((text) => ({ text, command: /^deltascope [a-z-]+ \S*[/:]/.test(text) }));
}
