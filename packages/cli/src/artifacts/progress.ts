import type { Writable } from 'node:stream';
import { drawOn, escapeControls } from '../show/safe-output.ts';

/** A line that stays in its place on a terminal; elsewhere nothing is shown until something is done. */
export const progressOn = (stdout: Writable & { isTTY?: boolean }, what: string) => {
  let shown = '';
  const show = (text: string): void => {
    if (stdout.isTTY !== true || text === shown) return;
    shown = text;
    drawOn(stdout, `\r\u001B[K${escapeControls(text)}`);
  };
  return {
    onProgress: (bytes: number, of: number | undefined): void =>
      show(`${what}: ${of ? `${Math.floor((100 * bytes) / of)} % of ${megabytes(of)}` : megabytes(bytes)}`),
    clear: (): void => {
      if (shown !== '') drawOn(stdout, '\r\u001B[K');
    },
  };
};

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
