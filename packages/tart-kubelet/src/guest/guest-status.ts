import { guestNames } from '@tartan/api';
import { openGuestFile, readAtMost, readGuestFile } from './guest-file.ts';
import type { Guests } from './guests.ts';

/** `unreadable`: there is something of that name, and not what a guest's runner makes. */
type Marker = 'present' | 'missing' | 'unreadable';

/** What a runner in a guest says of itself, by files in its status share that are there or not. */
export interface RunnerMarkers {
  readonly ready: Marker;
  readonly jobStarted: Marker;
  /** The release of the runner, if the guest told one. */
  readonly version?: string;
}

/** Of a guest that has said nothing. */
export const noRunnerMarkers: RunnerMarkers = { ready: 'missing', jobStarted: 'missing' };

/** A marker is empty, or has a time or a version in it. */
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

/** Whatever else a guest writes is no version. */
const parseVersion = (text: string): string | undefined => /^(\d{1,5}\.\d{1,5}\.\d{1,5})\s*$/.exec(text)?.[1];

/**
 * Never rejects, follows no link, waits for no pipe, and reads no more than a marker has (INC-34). The job is looked for last: one that
 * begins meanwhile is seen rather than missed.
 */
export const readRunnerMarkers = async (status: string): Promise<RunnerMarkers> => {
  const { marker: ready, text = '' } = await readMarker(status, guestNames.ready);
  const { marker: jobStarted } = await readMarker(status, guestNames.jobStarted);
  const version = parseVersion(text);
  return { ready, jobStarted, ...(version !== undefined && { version }) };
};

/** Three digits and the end of a line or two. */
const maxResultBytes = 16;

/** `echo $?`, as a guest's shell writes it. What is out of range would wrap around to a success somewhere (INC-33). */
const parseExitCode = (text: string): number | undefined => {
  const [, digits] = /^(\d{1,3})[ \t\r\n]*$/.exec(text) ?? [];
  const code = Number(digits ?? Number.NaN);
  return code <= 255 ? code : undefined;
};

/** What the guest left in its status share as its result. Anything but a plain file with a number from 0 to 255 is no report. */
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
