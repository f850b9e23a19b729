import { isProblem, senseless, withoutRight } from '../problems.ts';
import type { Registration, RunnerService } from '../runner-service.ts';
import { mintedAnswer } from '../wire/answers.ts';
import { type Caller, problemIn } from './caller.ts';
import type { Groups } from './groups.ts';
import type { Reach } from './reach.ts';

const longestName = 64;
const mostLabels = 100;

/** What GitHub would refuse. Nothing is asked then. */
const whyNot = ({ name, labels }: Registration): string | undefined => {
  if (name.trim() === '') return 'a runner has a name.';
  if (name.length > longestName)
    return `its name is longer than ${longestName} characters. Give the pool a shorter one.`;
  if (labels.length < 1 || labels.length > mostLabels) {
    return `it has ${labels.length} labels. Give it 1 to ${mostLabels}.`;
  }
  return labels.some((label) => label.trim() === '') ? 'one of its labels is empty. Leave that one out.' : undefined;
};

export const createMint = (caller: Caller, groups: Groups, reach: Reach): RunnerService['mint'] => {
  const { ask, operations, where, ownerName } = caller;
  return async (registration, { signal } = {}) => {
    const { name, labels, group: wanted } = registration;
    const what = `make the runner ${name} in ${ownerName}`;
    const wrong = whyNot(registration);
    if (wrong !== undefined) return senseless(what, wrong);
    const group = await groups.idOf(wanted, signal);
    if (isProblem(group)) return group;
    // The folder has no default that could be relied on.
    const parameters = { ...where, name, labels, runner_group_id: group.id, work_folder: '_work' };
    const made = await ask({ operation: operations.mint, what, parameters, answer: mintedAnswer, signal });
    if (made.kind === 'ok') {
      reach.proven();
      return { kind: 'minted', id: made.value.runner.id, jitConfig: made.value.encoded_jit_config };
    }
    if (made.kind === 'refused' && made.status === 409) return { kind: 'name taken' };
    // A group that is gone is 404, one that the App may not use 403 (`docs.rs/runner-manager-github`, module `jit`).
    if (wanted !== undefined) groups.forget();
    if (made.kind === 'refused' && made.status === 404 && wanted !== undefined) {
      const { right } = operations.mint;
      return withoutRight(what, { ...operations.mint, right: `the runner group ${wanted}, and ${right}` }, made.said);
    }
    return problemIn(made, what, ownerName);
  };
};
