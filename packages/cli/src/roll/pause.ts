import { isRolloutPaused, macFleet } from '@tartan/api';
import { type CallOptions, isKubeError, keyOf, patchIfUnchanged } from '@tartan/kube';
import { z } from 'zod';
import { type Cluster, explainRefusal } from '../cluster/connection.ts';
import { listAll } from '../cluster/list.ts';
import type { Fleet, Selection } from '../cluster/state.ts';
import { NotDoneError } from '../shell.ts';

/** What `roll pause` and `roll resume` print. */
export const pausedDocument = z.strictObject({
  schema: z.literal('tartan.roll-pause/v1'),
  namespace: z.string(),
  fleet: z.string(),
  paused: z.boolean().describe('The current state: true after a resume if the chart values pause the fleet.'),
  changed: z.boolean().describe('false: the fleet was already in that state.'),
});

type PausedDocument = z.infer<typeof pausedDocument>;

/** During a rollout the manager writes the status every few seconds, which causes conflicts. */
const maxAttempts = 5;

const requiredRights = `The missing permission is "patch" on macfleets.${macFleet.names.group}.`;

/**
 * Sets `spec.paused` of the named fleet, or of the only one. Uses optimistic locking, and leaves a fleet alone that was replaced meanwhile.
 * Safe to repeat. The chart never sets that field. Rejects with NotDoneError if nothing was written.
 */
export const setPaused = async (
  cluster: Cluster,
  { name, namespace, paused }: Selection & { readonly name: string | undefined; readonly paused: boolean },
  call: CallOptions,
): Promise<PausedDocument> => {
  const all = await listAll(cluster, macFleet.resource, { ...call, ...(namespace !== undefined && { namespace }) });
  const chosen = all.filter(({ metadata }) => name === undefined || metadata.name === name);
  const [fleet, ...others] = chosen;
  if (fleet === undefined) throw refusal(`There is no MacFleet${name === undefined ? '' : ` ${name}`}.`, all);
  if (others.length > 0)
    throw name === undefined
      ? refusal('There is more than one MacFleet: give its name.', all)
      : refusal(`There is a MacFleet ${name} in more than one namespace: choose one with --namespace.`, chosen);
  return writePaused(cluster, fleet, paused, call);
};

const refusal = (why: string, fleets: readonly Fleet[]): Error => {
  const names = fleets.map(({ metadata }) => keyOf(metadata)).sort();
  return new NotDoneError(names.length === 0 ? why : `${why} There are: ${names.join(', ')}.`);
};

const documentOf = ({ metadata, spec }: Fleet, changed: boolean): PausedDocument => ({
  schema: 'tartan.roll-pause/v1',
  namespace: metadata.namespace ?? '',
  fleet: metadata.name,
  paused: isRolloutPaused(spec),
  changed,
});

const writePaused = async (
  cluster: Cluster,
  first: Fleet,
  paused: boolean,
  call: CallOptions,
): Promise<PausedDocument> => {
  const { name, namespace = '', uid } = first.metadata;
  let fleet = first;
  for (let attempt = 1; ; attempt += 1) {
    if (fleet.metadata.uid !== uid)
      throw new NotDoneError(
        `The MacFleet ${name} was replaced meanwhile. Nothing was written: check it, then run the command again.`,
      );
    if (fleet.spec.paused === paused) return documentOf(fleet, false);
    const patch = patchIfUnchanged(cluster.client, macFleet.resource, fleet, { spec: { paused } }, call);
    try {
      const written = await explainRefusal(`patch macfleets in the namespace ${namespace}`, requiredRights, patch);
      return documentOf(written, true);
    } catch (error) {
      const { cause } = error instanceof Error ? error : {};
      if (!isKubeError(cause, 'conflict')) throw error;
      if (attempt === maxAttempts)
        throw new NotDoneError(
          `The MacFleet ${name} was changed ${maxAttempts} times meanwhile. Run the command again.`,
        );
    }
    fleet = await explainRefusal(
      `get macfleets in the namespace ${namespace}`,
      requiredRights,
      cluster.client.get(macFleet.resource, { name, namespace }, call),
    );
  }
};
