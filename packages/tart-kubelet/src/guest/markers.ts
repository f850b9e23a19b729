import { inTheGuest } from '@tartan/api';
import { readGuestFile } from '../guest-files/read-guest-file.ts';

/** `unreadable`: there is something of that name, and not what a guest's runner makes. */
type Marker = 'there' | 'missing' | 'unreadable';

/** What a runner in a guest says of itself, by files in its status share that are there or not. */
export interface Markers {
  readonly ready: Marker;
  readonly jobStarted: Marker;
  /** The release of the runner, if the guest told one. */
  readonly version?: string;
}

/** Of a guest that has said nothing. */
export const noMarkers: Markers = { ready: 'missing', jobStarted: 'missing' };

/** A marker is empty, or has a time or a version in it. */
const mostBytes = 256;

const read = async (status: string, name: string): Promise<{ marker: Marker; text?: string }> => {
  try {
    const content = await readGuestFile(status, name, mostBytes);
    if (content.kind === 'missing') return { marker: 'missing' };
    if (content.kind !== 'read' || content.truncated) return { marker: 'unreadable' };
    return { marker: 'there', text: content.bytes.toString('latin1') };
  } catch {
    return { marker: 'unreadable' };
  }
};

/** Whatever else a guest writes is no version. */
const versionIn = (text: string): string | undefined => /^(\d{1,5}\.\d{1,5}\.\d{1,5})\s*$/.exec(text)?.[1];

/**
 * Never rejects, follows no link, waits for no pipe, and reads no more than a marker has (INC-34). The job is looked for last: one that
 * begins meanwhile is seen rather than missed.
 */
export const readMarkers = async (status: string): Promise<Markers> => {
  const { marker: ready, text = '' } = await read(status, inTheGuest.ready);
  const { marker: jobStarted } = await read(status, inTheGuest.jobStarted);
  const version = versionIn(text);
  return { ready, jobStarted, ...(version !== undefined && { version }) };
};
