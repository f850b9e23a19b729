import type { Mac } from '@tartan/sim-mac';
import { shellCommand } from '../engine/compose-script.ts';
import { stepRun, type StepRunOptions } from '../engine/execute-step.ts';
import type { HostSecrets, HostSpec } from '../host-spec.ts';
import type { Step } from '../steps/step.ts';

export interface StepAnswer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The word of the last line: `unchanged`, `applied`, `removed`, `deferred`, `different`. */
  readonly result: string | undefined;
  readonly differences: readonly string[];
}

/** Runs one step on a simulated Mac without the engine: the artifacts must be in the Mac's store already. */
export const runStep = async <Intent extends object>(
  mac: Mac,
  step: Step<Intent>,
  spec: HostSpec,
  { secrets = {}, ...options }: Partial<StepRunOptions> & { secrets?: HostSecrets } = {},
): Promise<StepAnswer> => {
  const { script, payload } = stepRun(step, spec, secrets, {
    verb: 'converge',
    hash: 'a hash',
    lockOwner: '',
    idle: true,
    ...options,
  });
  const command = shellCommand(script, { asRoot: step.unprivileged !== true });
  const { code, stdout, stderr } = await mac.run(command, { stdin: payload ?? '' });
  const lines = stdout.trimEnd().split('\n');
  const last = lines.at(-1)?.split('\t');
  return {
    code,
    stdout,
    stderr,
    result: last?.[0] === 'result' ? last[1] : undefined,
    differences: lines.filter((line) => line.startsWith('differs\t')).map((line) => line.slice('differs\t'.length)),
  };
};
