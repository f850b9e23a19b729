import type { Run } from './run.ts';

/** Where macOS looks for how long guests keep an address; bootpd reads it when the first virtual machine starts. */
const settings = '/Library/Preferences/SystemConfiguration/com.apple.InternetSharing.default.plist';
/** What macOS takes when nobody has said anything: a day. */
const defaultSeconds = 86_400;

const found = /DHCPLeaseTimeSecs"?\s*=\s*"?(\d+)/;

/** defaults ended by itself: there is no such file, or no such key in it. */
const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 1;

/** How many seconds a guest keeps its address, also after it is gone. Rejects when nobody can tell. */
export const leaseSeconds = (run: Run, root: string, signal: AbortSignal): Promise<number> =>
  run('defaults', ['read', `${root}${settings}`, 'bootpd'], signal).then(
    (text) => Number(found.exec(text)?.[1] ?? defaultSeconds),
    (error: unknown) => {
      if (isMissing(error)) return defaultSeconds;
      throw error;
    },
  );
