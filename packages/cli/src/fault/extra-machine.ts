import { randomBytes } from 'node:crypto';
import { formatProviderID, machine, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { getCondition, isKubeError, type Live } from '@tartan/kube';
import { fleetNamespace as namespace } from '../simulation/control-plane.ts';
import { addMachine, claimPrefix, coreKinds, fleetNames } from '../simulation/fleets.ts';
import type { Host } from './cast.ts';
import type { Scene } from './fault.ts';
import { untilGone, untilOne } from './waiting.ts';

type Machine = Live<ScalewayAppleSiliconMachine>;

/** A machine beside those of the fleets, which goes when the play is over. */
export interface ExtraMachine {
  readonly name: string;
  /** `what` completes "until it". */
  until(what: string, holds: (machine: Machine) => boolean): Promise<Machine>;
  untilReady(): Promise<Machine>;
  /** Its Mac goes back to the pool. */
  remove(): Promise<void>;
}

/** Of no MachineDeployment, so that none is scaled behind anybody's back. With a host it claims that one, or none. */
export const askForMachine = async (
  scene: Scene,
  host?: Host,
  name = `${claimPrefix}extra-${randomBytes(2).toString('hex')}`,
): Promise<ExtraMachine> => {
  const { client } = scene.simulation.controlPlane;
  const mine = ({ metadata }: Machine): boolean => metadata.name === name;
  const server = host && { providerID: formatProviderID({ zone: host.server.zone, serverID: host.server.id }) };
  await addMachine(client, name, { fleetName: fleetNames[0], ...server });
  scene.say(`One more machine is asked for: ${name}.`);
  const until: ExtraMachine['until'] = (what, holds) =>
    untilOne(scene, machine.resource, `the machine ${name} ${what}`, (each) => mine(each) && holds(each));
  return {
    name,
    until,
    untilReady: () => until('is Ready', ({ status }) => status?.ready === true),
    remove: async () => {
      await client.delete(coreKinds.machines, { namespace, name }).catch((error: unknown) => {
        if (!isKubeError(error, 'notFound')) throw error;
      });
      if (!scene.signal.aborted) await untilGone(scene, machine.resource, name);
    },
  };
};

/** What a condition of a machine says, if it is not true. */
export const complaint = ({ status }: Pick<Machine, 'status'>, type: string): string | undefined => {
  const condition = getCondition(status?.conditions, type);
  return condition?.status === 'False' ? `${condition.reason}: ${condition.message}` : undefined;
};
