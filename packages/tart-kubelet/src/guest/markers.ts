import { inTheGuest } from '@tartan/api';
import { readGuestFile } from '../guest-files/read-guest-file.ts';

/** `unreadable`: there is something of that name, and not what a guest's runner makes. */
type Marker = 'there' | 'missing' | 'unreadable';

/** What a runner in a guest says of itself, by files in its status share that are there or not. */
export interface Markers {
  readonly ready: Marker;
  readonly jobStarted: Marker;
}

/** Of a guest that has said nothing. */
export const noMarkers: Markers = { ready: 'missing', jobStarted: 'missing' };

/** A marker is empty, or has a time in it. */
const mostBytes = 256;

const readMarker = async (status: string, name: string): Promise<Marker> => {
  try {
    const content = await readGuestFile(status, name, mostBytes);
    if (content.kind === 'missing') return 'missing';
    return content.kind === 'read' && !content.truncated ? 'there' : 'unreadable';
  } catch {
    return 'unreadable';
  }
};

/**
 * Never rejects, follows no link, waits for no pipe, and reads no more than a marker has (INC-34). The job is looked for last: one that
 * begins meanwhile is seen rather than missed.
 */
export const readMarkers = async (status: string): Promise<Markers> => {
  const ready = await readMarker(status, inTheGuest.ready);
  return { ready, jobStarted: await readMarker(status, inTheGuest.jobStarted) };
};
