import { inTheGuest } from '@tartan/api';
import { join } from 'node:path';

/** Also those of the original agent, which had dots in them: what it left behind can be found and removed. */
const vmPattern = /^[0-9A-Za-z][0-9A-Za-z._-]{0,254}$/;

export const isVmName = (name: string): boolean => vmPattern.test(name);

/** Everything of one virtual machine, below a folder that nobody but the agent enters. Only its parts are shared, never itself. */
export interface GuestFolder {
  readonly root: string;
  readonly env: string;
  readonly status: string;
  readonly volume: (name: string) => string;
  /** Until when tokens are good. Not shared. */
  readonly tokenLives: string;
}

export const guestFolder = (folder: string, vm: string): GuestFolder => {
  if (!isVmName(vm)) throw new Error(`${JSON.stringify(vm.slice(0, 64))} is no name of a virtual machine`);
  const root = join(folder, vm);
  return {
    root,
    env: join(root, inTheGuest.shares.env),
    status: join(root, inTheGuest.shares.status),
    volume: (name) => join(root, 'volumes', name),
    tokenLives: join(root, 'token-lives.json'),
  };
};
