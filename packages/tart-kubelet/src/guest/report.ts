import { inTheGuest } from '@tartan/api';
import { openGuestFile } from '../guest-files/open-guest-file.ts';
import { readAtMost } from '../guest-files/read-guest-file.ts';
import type { Guests } from './guests.ts';

/** Three digits and the end of a line or two. */
const mostBytes = 16;

/** `echo $?`, as a guest's shell writes it. What is out of range would wrap around to a success somewhere (INC-33). */
const codeOf = (text: string): number | undefined => {
  const [, digits] = /^(\d{1,3})[ \t\r\n]*$/.exec(text) ?? [];
  const code = Number(digits ?? Number.NaN);
  return code <= 255 ? code : undefined;
};

/** What the guest left in its status share as its result. Anything but a plain file with a number from 0 to 255 is no report. */
export const readReport = async (status: string): ReturnType<Guests['report']> => {
  const opened = await openGuestFile(status, inTheGuest.result);
  if (opened.kind !== 'opened') return undefined;
  try {
    const { bytes, truncated } = await readAtMost(opened.file, mostBytes);
    const code = truncated ? undefined : codeOf(bytes.toString('latin1'));
    return code === undefined ? undefined : { code, at: Math.trunc((await opened.file.stat()).mtimeMs) };
  } finally {
    await opened.file.close();
  }
};
