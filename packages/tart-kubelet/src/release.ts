import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '@tartan/kube';
import packageFile from '../package.json' with { type: 'json' };
import { errorCode } from './file-errors.ts';

/** The agent's own version; the Node reports another one as the kubelet's (`--kubelet-version`). */
export const agentVersion: string = `v${packageFile.version}`;

/** EX_CONFIG of BSD's sysexits: the configuration is wrong. launchd restarts the agent, and by then the update is complete. */
export const wrongArgumentsExitCode = 78;

/** A file beside the agent with the hash of the arguments that this release expects. */
const argumentsFile = 'arguments';

/** Must equal `argumentsHash` of the host steps, which write that file. */
export const hashArguments = (args: readonly string[]): string =>
  createHash('sha256')
    .update(args.map((word) => `${word}\0`).join(''))
    .digest('hex');

/**
 * Rejects arguments of another release: new code never runs with old arguments, nor the reverse, wherever an update was interrupted
 * (tuist/tuist#11428). Not checked outside a release folder, such as in a checkout.
 *
 * Assumptions: `folder` is the real folder of the running code, with links resolved once. Through `current` it could read the file
 * of another release.
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
