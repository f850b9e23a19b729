import { isPaused, macFleet } from '@tartan/api';
import { type CallOptions, isKubeError, keyOf } from '@tartan/kube';
import { asked, type Cluster } from '../cluster/cluster.ts';
import { readAll } from '../cluster/read-all.ts';
import type { Fleet, Selection } from '../world/observe.ts';

export type Outcome =
  /** `isPaused`: by whomever, the release included. */
  | { readonly kind: 'written' | 'already'; readonly fleet: Fleet; readonly isPaused: boolean }
  /** Nothing was done; `why` is for people. */
  | { readonly kind: 'refused'; readonly why: string };

/** The manager writes the status of a fleet that rolls every few seconds, and each write makes a new version. */
const tries = 5;

const needs = `Ask for the right to "patch" macfleets.${macFleet.names.group}.`;

/**
 * Sets `spec.paused` of one fleet: of that one, or of the only one there is. Uses optimistic locking: nobody's change is overwritten, and a
 * fleet that was replaced meanwhile is left alone. Safe to repeat. The chart never sets that field, so helm and people do not fight.
 */
export const setPaused = async (
  cluster: Cluster,
  { name, namespace, paused }: Selection & { readonly name: string | undefined; readonly paused: boolean },
  call: CallOptions,
): Promise<Outcome> => {
  const all = await readAll(cluster, macFleet.resource, { ...call, ...(namespace !== undefined && { namespace }) });
  const chosen = all.filter(({ metadata }) => name === undefined || metadata.name === name);
  const [fleet, ...others] = chosen;
  if (fleet === undefined)
    return refused(name === undefined ? 'There is no MacFleet.' : `There is no MacFleet ${name}.`, all);
  if (others.length > 0)
    return name === undefined
      ? refused('There is more than one MacFleet: name it.', all)
      : refused(`There is a MacFleet ${name} in more than one namespace: choose one with --namespace.`, chosen);
  return write(cluster, fleet, paused, call);
};

const refused = (why: string, fleets: readonly Fleet[]): Outcome => {
  const names = fleets.map(({ metadata }) => keyOf(metadata)).sort();
  return { kind: 'refused', why: names.length === 0 ? why : `${why} There are: ${names.join(', ')}.` };
};

const write = async (cluster: Cluster, first: Fleet, paused: boolean, call: CallOptions): Promise<Outcome> => {
  const { name, namespace = '', uid } = first.metadata;
  let fleet = first;
  for (let attempt = 1; ; attempt += 1) {
    if (fleet.metadata.uid !== uid)
      return {
        kind: 'refused',
        why: `Another MacFleet has the name ${name} by now. Nothing was written; look at it first.`,
      };
    if (fleet.spec.paused === paused) return { kind: 'already', fleet, isPaused: isPaused(fleet.spec) };
    const { resourceVersion } = fleet.metadata;
    const body = { metadata: { uid, resourceVersion }, spec: { paused } };
    const patch = cluster.client.patch(macFleet.resource, { name, namespace }, { type: 'merge', body }, call);
    try {
      const written = await asked(`patch macfleets in the namespace ${namespace}`, needs, patch);
      return { kind: 'written', fleet: written, isPaused: isPaused(written.spec) };
    } catch (error) {
      const { cause } = error instanceof Error ? error : {};
      if (!isKubeError(cause, 'conflict')) throw error;
      if (attempt === tries)
        return {
          kind: 'refused',
          why: `Somebody else wrote the MacFleet ${name} ${tries} times meanwhile. Run it again.`,
        };
    }
    fleet = await asked(
      `get macfleets in the namespace ${namespace}`,
      needs,
      cluster.client.get(macFleet.resource, { name, namespace }, call),
    );
  }
};
