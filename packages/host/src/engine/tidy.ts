import type { Redactor } from '@tartan/kube';
import type { HostConnection } from '../connection/connection.ts';
import { composeScript } from './compose-script.ts';
import type { Leftovers } from './plan.ts';
import { shellCommand } from './shell-command.ts';
import { StepError } from './step-error.ts';

export const isTidy = ({ artifacts, stamps, rebootMark }: Leftovers): boolean =>
  artifacts.length === 0 && stamps.length === 0 && !rebootMark;

const theStep = { name: 'tidy', title: 'remove what nobody needs any more' };

/** Takes leftovers off a host. What fails here harms nobody and is tried again with the next run. */
export const tidy = async (
  connection: Pick<HostConnection, 'run'>,
  { artifacts, stamps, rebootMark }: Leftovers,
  lockOwner: string,
  redact: Redactor,
  signal?: AbortSignal,
): Promise<StepError | undefined> => {
  const script = composeScript('tidy', {
    ARTIFACTS: artifacts.join(' '),
    STAMPS: stamps.join(' '),
    REBOOT_MARK: rebootMark ? 'yes' : 'no',
    LOCK_OWNER: lockOwner,
    STEP: theStep.name,
  });
  const outcome = await connection.run({ command: shellCommand(script, { asRoot: true }), deadline: 60_000 }, signal);
  if (outcome.kind === 'done') return undefined;
  const exitCode = outcome.kind === 'command failed' ? outcome.code : undefined;
  return new StepError(theStep, { failure: 'rejected', exitCode, said: outcome.stderr || outcome.kind }, redact);
};
