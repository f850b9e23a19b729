import type { Writable } from 'node:stream';

/** How `tartan up` talks to a person: plain lines, with colours only where somebody sees them. */
export interface Voice {
  say(line?: string): void;
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

export const createVoice = (stdout: Writable, { colours }: { readonly colours: boolean }): Voice => {
  const paint =
    (code: number) =>
    (text: string): string =>
      colours ? `\u001B[${code}m${text}\u001B[0m` : text;
  return {
    say: (line = '') => void stdout.write(`${line}\n`),
    bold: paint(1),
    dim: paint(2),
    good: paint(32),
    bad: paint(33),
  };
};
