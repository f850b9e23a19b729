import { isRolloutPaused, macFleet } from '@tartan/api';
import { type CallOptions, isKubeError, keyOf } from '@tartan/kube';
import { z } from 'zod';
import { type Cluster, explainRefusal } from '../cluster/connection.ts';
import { listAll } from '../cluster/list.ts';
import type { Fleet, Selection } from '../cluster/state.ts';

/** What `roll pause` and `roll resume` print. */
export const pausedDocument = z.strictObject({
  schema: z.literal('tartan.roll-pause/v1'),
  namespace: z.string(),
  fleet: z.string(),
  paused: z.boolean().describe('The current state: true after a resume if the chart values pause the fleet.'),
  changed: z.boolean().describe('false: the fleet was already in that state.'),
});

export type PausedDocument = z.infer<typeof pausedDocument>;

export type PauseOutcome =
  /** `isPaused`: by whomever, the release included. */
  | { readonly kind: 'written' | 'already'; readonly fleet: Fleet; readonly isPaused: boolean }
  /** Nothing was done; `why` is for people. */
  | { readonly kind: 'refused'; readonly why: string };

/** The manager writes the status of a fleet that rolls every few seconds, and each write makes a new version. */
const maxAttempts = 5;

const requiredRights = `Ask for the right to "patch" macfleets.${macFleet.names.group}.`;

/**
 * Sets `spec.paused` of one fleet: of that one, or of the only one there is. Uses optimistic locking: nobody's change is overwritten, and a
 * fleet that was replaced meanwhile is left alone. Safe to repeat. The chart never sets that field, so helm and people do not fight.
 */
export const setPaused = async (
  cluster: Cluster,
  { name, namespace, paused }: Selection & { readonly name: string | undefined; readonly paused: boolean },
  call: CallOptions,
): Promise<PauseOutcome> => {
  const all = await listAll(cluster, macFleet.resource, { ...call, ...(namespace !== undefined && { namespace }) });
  const chosen = all.filter(({ metadata }) => name === undefined || metadata.name === name);
  const [fleet, ...others] = chosen;
  if (fleet === undefined)
    return refusal(name === undefined ? 'There is no MacFleet.' : `There is no MacFleet ${name}.`, all);
  if (others.length > 0)
    return name === undefined
      ? refusal('There is more than one MacFleet: name it.', all)
      : refusal(`There is a MacFleet ${name} in more than one namespace: choose one with --namespace.`, chosen);
  return writePaused(cluster, fleet, paused, call);
};

const refusal = (why: string, fleets: readonly Fleet[]): PauseOutcome => {
  const names = fleets.map(({ metadata }) => keyOf(metadata)).sort();
  return { kind: 'refused', why: names.length === 0 ? why : `${why} There are: ${names.join(', ')}.` };
};

const writePaused = async (
  cluster: Cluster,
  first: Fleet,
  paused: boolean,
  call: CallOptions,
): Promise<PauseOutcome> => {
  const { name, namespace = '', uid } = first.metadata;
  let fleet = first;
  for (let attempt = 1; ; attempt += 1) {
    if (fleet.metadata.uid !== uid)
      return {
        kind: 'refused',
        why: `Another MacFleet has the name ${name} by now. Nothing was written; look at it first.`,
      };
    if (fleet.spec.paused === paused) return { kind: 'already', fleet, isPaused: isRolloutPaused(fleet.spec) };
    const { resourceVersion } = fleet.metadata;
    const body = { metadata: { uid, resourceVersion }, spec: { paused } };
    const patch = cluster.client.patch(macFleet.resource, { name, namespace }, { type: 'merge', body }, call);
    try {
      const written = await explainRefusal(`patch macfleets in the namespace ${namespace}`, requiredRights, patch);
      return { kind: 'written', fleet: written, isPaused: isRolloutPaused(written.spec) };
    } catch (error) {
      const { cause } = error instanceof Error ? error : {};
      if (!isKubeError(cause, 'conflict')) throw error;
      if (attempt === maxAttempts)
        return {
          kind: 'refused',
          why: `Somebody else wrote the MacFleet ${name} ${maxAttempts} times meanwhile. Run it again.`,
        };
    }
    fleet = await explainRefusal(
      `get macfleets in the namespace ${namespace}`,
      requiredRights,
      cluster.client.get(macFleet.resource, { name, namespace }, call),
    );
  }
};
