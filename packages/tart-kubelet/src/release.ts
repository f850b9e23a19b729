import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '@tartan/kube';
import packageFile from '../package.json' with { type: 'json' };
import { errorCode } from './file-errors.ts';

/** Of the agent itself; what the Node reports as its kubelet's is another matter (`--kubelet-version`). */
export const agentVersion: string = `v${packageFile.version}`;

/** As BSD's sysexits names it: the configuration is wrong. launchd starts the agent again, and by then the roll is through. */
export const wrongArgumentsExitCode = 78;

/** The file beside the agent that holds the hash of the arguments which this very code expects. */
const argumentsFile = 'arguments';

/** The same as `argumentsHash` of the host steps, which write that file. */
export const hashArguments = (args: readonly string[]): string =>
  createHash('sha256')
    .update(args.map((word) => `${word}\0`).join(''))
    .digest('hex');

/**
 * What is wrong with these arguments, if this release was made for others: new code never runs with old arguments, nor the reverse,
 * wherever a roll was cut (tuist/tuist#11428). Not checked in a folder that is no release, such as a checkout.
 *
 * Assumptions: `folder` is where the running code really lies, with links resolved once. By way of `current` the file of another
 * release could be read.
 */
export const checkArguments = async (folder: string, args: readonly string[]): Promise<string | undefined> => {
  let expected: string;
  try {
    expected = (await readFile(join(folder, argumentsFile), 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    return `The arguments that this release expects cannot be read: ${errorMessage(error)}. Push it again.`;
  }
  const given = hashArguments(args);
  if (given === expected) return undefined;
  const short = (hash: string): string => hash.slice(0, 12);
  return (
    `This release expects other arguments (${short(expected)}) than it was started with (${short(given)}): ` +
    'a roll of the agent was cut between its code and its launchd job. The next push of the host steps mends it.'
  );
};
