import { randomBytes } from 'node:crypto';
import { formatProviderID, machine, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { getCondition, ignoreNotFound, type KubeObject, type Live, nodes, pods, type Resource } from '@tartan/kube';
import { addMachine, claimPrefix, coreKinds, fleetNames, fleetNamespace as namespace } from '@tartan/sim-fleet';
import { demoPod } from '../up/demo-pod.ts';
import type { FaultContext } from './fault.ts';
import type { SimulatedHost } from './targets.ts';
import { untilDeleted, untilNamed } from './wait.ts';

/** An object that exists while a fault is played. `deleted`: the kind whose deletion removes it. */
const temporaryObject = <T extends KubeObject, Deleted extends KubeObject>(
  context: FaultContext,
  resource: Resource<T>,
  name: string,
  deleted: Resource<Deleted>,
) => ({
  name,
  until: (what: string, holds: (object: Live<T>) => boolean) => untilNamed(context, resource, name, what, holds),
  remove: async (): Promise<void> => {
    await ignoreNotFound(context.simulation.controlPlane.client.delete(deleted, { namespace, name }));
    if (!context.signal.aborted) await untilDeleted(context, resource, name);
  },
});

export type TemporaryMachine = Awaited<ReturnType<typeof createTemporaryMachine>>;

/** Creates a machine outside of the MachineDeployments. With a host it claims only that one. */
export const createTemporaryMachine = async (
  context: FaultContext,
  host?: SimulatedHost,
  name = `${claimPrefix}extra-${randomBytes(2).toString('hex')}`,
) => {
  const server = host && { providerID: formatProviderID({ zone: host.server.zone, serverID: host.server.id }) };
  await addMachine(context.simulation.controlPlane.client, name, { fleetName: fleetNames[0], ...server });
  context.report(`The machine ${name} is created.`);
  const temporary = temporaryObject(context, machine.resource, name, coreKinds.machines);
  return { ...temporary, untilReady: () => temporary.until('is Ready', ({ status }) => status?.ready === true) };
};

/** Reason and message of a condition that is False. */
export const failingCondition = (
  { status }: Pick<ScalewayAppleSiliconMachine, 'status'>,
  type: string,
): string | undefined => {
  const condition = getCondition(status?.conditions, type);
  return condition?.status === 'False' ? `${condition.reason}: ${condition.message}` : undefined;
};

/** Creates a Pod on this Node. */
export const createTemporaryPod = async (context: FaultContext, nodeName: string) => {
  const name = `job-${randomBytes(2).toString('hex')}`;
  const pod = demoPod(name);
  await context.simulation.controlPlane.client.create(pods, { ...pod, spec: { ...pod.spec, nodeName } });
  context.report(`The Pod ${name} is created on ${nodeName}.`);
  const temporary = temporaryObject(context, pods, name, pods);
  return {
    ...temporary,
    /** The virtual machine runs, and the kubelet API of its Node is served. */
    untilRunning: async () => {
      const running = await temporary.until('runs', ({ status }) => status?.phase === 'Running');
      await untilNamed(
        context,
        nodes,
        nodeName,
        'serves the kubelet API',
        ({ status }) => (status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0) > 0,
      );
      return running;
    },
  };
};
