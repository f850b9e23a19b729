import { randomBytes } from 'node:crypto';
import { formatProviderID, machine, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { getCondition, type Live, nodes, pods } from '@tartan/kube';
import { fleetNamespace as namespace } from '../simulation/control-plane.ts';
import { addMachine, claimPrefix, coreKinds, fleetNames } from '../simulation/fleets.ts';
import { ignoreNotFound } from '../simulation/installer.ts';
import { demoPod } from '../up/demo-pod.ts';
import type { FaultContext } from './fault.ts';
import type { SimulatedHost } from './targets.ts';
import { untilGone, untilOne } from './wait.ts';

type Machine = Live<ScalewayAppleSiliconMachine>;

/** A machine beside those of the fleets, which goes when the play is over. */
export interface TemporaryMachine {
  readonly name: string;
  /** `what` completes "until it". */
  until(what: string, holds: (machine: Machine) => boolean): Promise<Machine>;
  untilReady(): Promise<Machine>;
  /** Its Mac goes back to the pool. */
  remove(): Promise<void>;
}

/** Of no MachineDeployment, so that none is scaled behind anybody's back. With a host it claims that one, or none. */
export const createTemporaryMachine = async (
  context: FaultContext,
  host?: SimulatedHost,
  name = `${claimPrefix}extra-${randomBytes(2).toString('hex')}`,
): Promise<TemporaryMachine> => {
  const { client } = context.simulation.controlPlane;
  const mine = ({ metadata }: Machine): boolean => metadata.name === name;
  const server = host && { providerID: formatProviderID({ zone: host.server.zone, serverID: host.server.id }) };
  await addMachine(client, name, { fleetName: fleetNames[0], ...server });
  context.report(`One more machine is asked for: ${name}.`);
  const until: TemporaryMachine['until'] = (what, holds) =>
    untilOne(context, machine.resource, `the machine ${name} ${what}`, (each) => mine(each) && holds(each));
  return {
    name,
    until,
    untilReady: () => until('is Ready', ({ status }) => status?.ready === true),
    remove: async () => {
      await ignoreNotFound(client.delete(coreKinds.machines, { namespace, name }));
      if (!context.signal.aborted) await untilGone(context, machine.resource, name);
    },
  };
};

/** What a condition of a machine says, if it is not true. */
export const failingCondition = ({ status }: Pick<Machine, 'status'>, type: string): string | undefined => {
  const condition = getCondition(status?.conditions, type);
  return condition?.status === 'False' ? `${condition.reason}: ${condition.message}` : undefined;
};

type Pod = Live<NonNullable<(typeof pods)['ofType']>>;

/** A Pod of a play, which goes with it. */
interface TemporaryPod {
  readonly name: string;
  /** `what` completes "until the Pod". */
  until(what: string, holds: (pod: Pod) => boolean): Promise<Pod>;
  /** And its Mac can be asked for it. */
  untilRunning(): Promise<Pod>;
  remove(): Promise<void>;
}

/** On that very Mac. */
export const createTemporaryPod = async (context: FaultContext, nodeName: string): Promise<TemporaryPod> => {
  const { client } = context.simulation.controlPlane;
  const name = `job-${randomBytes(2).toString('hex')}`;
  const wanted = demoPod(name);
  await client.create(pods, { ...wanted, spec: { ...wanted.spec, nodeName } });
  context.report(`The Pod ${name} is created for ${nodeName}.`);
  const until: TemporaryPod['until'] = (what, holds) =>
    untilOne(context, pods, `the Pod ${name} ${what}`, (pod) => pod.metadata.name === name && holds(pod));
  return {
    name,
    until,
    untilRunning: async () => {
      const pod = await until('runs', ({ status }) => status?.phase === 'Running');
      await untilOne(
        context,
        nodes,
        `the kubelet API of ${nodeName} is served`,
        ({ metadata, status }) =>
          metadata.name === nodeName && (status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0) > 0,
      );
      return pod;
    },
    remove: async () => {
      await ignoreNotFound(client.delete(pods, { namespace, name }));
      if (!context.signal.aborted) await untilGone(context, pods, name);
    },
  };
};
