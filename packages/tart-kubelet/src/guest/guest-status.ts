import { guestNames } from '@tartan/api';
import { openGuestFile, readAtMost, readGuestFile } from './guest-file.ts';
import type { Guests } from './guests.ts';

/** `unreadable`: the name exists, but is not a file as a runner writes it. */
type Marker = 'present' | 'missing' | 'unreadable';

/** The state of a runner in a guest, by the presence of files in its status share. */
export interface RunnerMarkers {
  readonly ready: Marker;
  readonly jobStarted: Marker;
  /** The runner's version, if the guest reported one. */
  readonly version?: string;
}

/** For a guest without any marker. */
export const noRunnerMarkers: RunnerMarkers = { ready: 'missing', jobStarted: 'missing' };

/** A marker is empty, or contains a time or a version. */
const maxMarkerBytes = 256;

const readMarker = async (status: string, name: string): Promise<{ marker: Marker; text?: string }> => {
  try {
    const content = await readGuestFile(status, name, maxMarkerBytes);
    if (content.kind === 'missing') return { marker: 'missing' };
    if (content.kind !== 'read' || content.truncated) return { marker: 'unreadable' };
    return { marker: 'present', text: content.bytes.toString('latin1') };
  } catch {
    return { marker: 'unreadable' };
  }
};

/** Any other text is no version. */
const parseVersion = (text: string): string | undefined => /^(\d{1,5}\.\d{1,5}\.\d{1,5})\s*$/.exec(text)?.[1];

/**
 * Never rejects, follows no link, blocks on no pipe, and reads only a bounded size (INC-34). Reads the job marker last, so that a job
 * that starts meanwhile is not missed.
 */
export const readRunnerMarkers = async (status: string): Promise<RunnerMarkers> => {
  const { marker: ready, text = '' } = await readMarker(status, guestNames.ready);
  const { marker: jobStarted } = await readMarker(status, guestNames.jobStarted);
  const version = parseVersion(text);
  return { ready, jobStarted, ...(version !== undefined && { version }) };
};

/** Three digits and one or two line breaks. */
const maxResultBytes = 16;

/** The output of `echo $?`. A larger number could wrap around to 0, a success (INC-33). */
const parseExitCode = (text: string): number | undefined => {
  const [, digits] = /^(\d{1,3})[ \t\r\n]*$/.exec(text) ?? [];
  const code = Number(digits ?? Number.NaN);
  return code <= 255 ? code : undefined;
};

/** The result file in the status share. Anything but a regular file with a number from 0 to 255 counts as no result. */
export const readGuestResult = async (status: string): ReturnType<Guests['result']> => {
  const opened = await openGuestFile(status, guestNames.result);
  if (opened.kind !== 'opened') return undefined;
  try {
    const { bytes, truncated } = await readAtMost(opened.file, maxResultBytes);
    const code = truncated ? undefined : parseExitCode(bytes.toString('latin1'));
    return code === undefined ? undefined : { code, at: Math.trunc((await opened.file.stat()).mtimeMs) };
  } finally {
    await opened.file.close();
  }
};
