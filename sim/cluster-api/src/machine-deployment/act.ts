import type { Live } from '@tartan/kube';
import type { Context, PassOptions } from '../context.ts';
import { type MachineDeployment, type MachineSet, machineDeployments, machineSets } from '../kinds.ts';
import { annotations, finalizers, labels } from '../names.ts';
import { ifThere } from '../writing/found.ts';
import { plainOwner, withOwner } from '../writing/owners.ts';
import { patchIfChanged, withFinalizer, withoutFinalizer } from '../writing/patch-if-changed.ts';
import { randomSuffix } from '../writing/random-name.ts';
import { type Decision, emptySets, type Snapshot } from './decide.ts';
import { makeSet, nextRevision, revisionOf, setPatch } from './make-set.ts';

/** Its finalizer, its Cluster as owner, and what core fills in, written down so that people see it. */
export const settleDeployment = async (
  { client }: Context,
  live: Live<MachineDeployment>,
  { deployment, cluster }: Snapshot,
  options: PassOptions,
): Promise<Live<MachineDeployment>> => {
  if (live.metadata.deletionTimestamp !== undefined) return live;
  const metadata = {
    finalizers: withFinalizer(live, finalizers.machineDeployment),
    labels: { [labels.clusterName]: live.spec?.clusterName ?? '' },
    ownerReferences: withOwner(live, plainOwner('Cluster', cluster)),
  };
  return patchIfChanged(client, machineDeployments, live, { metadata, spec: deployment.spec ?? {} }, options);
};

const deleteSets = async (
  { client }: Context,
  sets: readonly Live<MachineSet>[],
  options: PassOptions,
): Promise<void> => {
  for (const { metadata } of sets) {
    const { namespace = '', name, uid } = metadata;
    await ifThere(client.delete(machineSets, { namespace, name }, { ...options, preconditions: { uid } }));
  }
};

const scale = async (
  { client, random }: Context,
  { deployment, sets }: Snapshot,
  decision: Extract<Decision, { kind: 'scale' }>,
  options: PassOptions,
): Promise<void> => {
  const { current, old } = sets;
  const revision = nextRevision(current, old);
  // The new one first: whoever dies in between has not yet taken anything away.
  if (current)
    await patchIfChanged(
      client,
      machineSets,
      current,
      setPatch(deployment, current, { replicas: decision.current ?? 0, revision, isOld: false }),
      options,
    );
  else if (decision.makes)
    await client.create(
      machineSets,
      makeSet(deployment, { suffix: randomSuffix(random), replicas: decision.current ?? 0, revision }),
      options,
    );
  if (current || decision.makes)
    await patchIfChanged(
      client,
      machineDeployments,
      deployment,
      { metadata: { annotations: { [annotations.revision]: String(revision) } } },
      options,
    );
  for (const [index, set] of old.entries())
    await patchIfChanged(
      client,
      machineSets,
      set,
      setPatch(deployment, set, { replicas: decision.old[index] ?? 0, revision: revisionOf(set), isOld: true }),
      options,
    );
};

export const act = async (
  context: Context,
  snapshot: Snapshot,
  decision: Decision,
  options: PassOptions,
): Promise<void> => {
  const { client } = context;
  switch (decision.kind) {
    case 'waitForTemplate':
      return;
    case 'scale':
      await scale(context, snapshot, decision, options);
      return deleteSets(context, emptySets(snapshot), options);
    case 'delete':
      return deleteSets(context, decision.sets, options);
    case 'finish': {
      const metadata = { finalizers: withoutFinalizer(snapshot.deployment, finalizers.machineDeployment) };
      await ifThere(patchIfChanged(client, machineDeployments, snapshot.deployment, { metadata }, options));
    }
  }
};
