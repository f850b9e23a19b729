import { readFileSync, statSync } from 'node:fs';
import type { Machine } from '../machine.ts';
import { describeJob, type JobDescription } from './job-description.ts';
import { MalformedPlist, parsePlist } from './plist.ts';
import type { Domain } from './target.ts';

const groupOrWorldWritable = 0o022;

/** Whether launchd trusts a property list: root's, or for a LaunchAgent also its user's, and nobody else may write it. */
export const isTrusted = (machine: Machine, file: string, domain: Domain): boolean => {
  const { user } = machine.ownerOf(file);
  const isOwned = user === 'root' || (domain.kind === 'gui' && user === machine.user.name);
  return isOwned && (statSync(file).mode & groupOrWorldWritable) === 0;
};

/** `undefined`: not there, or nothing that launchd could make a job of. */
export const readJob = (file: string): JobDescription | undefined => {
  let xml: string;
  try {
    xml = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  try {
    return describeJob(parsePlist(xml));
  } catch (error) {
    if (error instanceof MalformedPlist) return undefined;
    throw error;
  }
};
