import type { Client } from '@tartan/kube';
import { coreKinds, fleetNamespace as namespace, type FleetSizes, type HostKind } from '@tartan/sim-fleet';
import { z } from 'zod';

/** With at least so many machines, one is a builder. */
const minMachinesForBuilder = 3;

interface SizeOptions {
  readonly machines: number;
  readonly hosts: HostKind;
  readonly builders?: number;
}

/** Divides machines among the fleets. The first fleet is never empty. Played hosts have no guests, so no runners of GitHub either. */
export const fleetSizes = ({ machines, hosts, builders: wantedBuilders }: SizeOptions): Required<FleetSizes> => {
  if (hosts === 'played') {
    if (wantedBuilders)
      throw new Error(
        'a builder runs jobs of GitHub on the Mac itself, and played hosts run nothing. Leave --builders out, or use --hosts simulated.',
      );
    return { macos: machines, runners: 0, builders: 0 };
  }
  const builders = Math.min(wantedBuilders ?? (machines >= minMachinesForBuilder ? 1 : 0), machines - 1);
  const others = machines - builders;
  return { macos: Math.ceil(others / 2), runners: Math.floor(others / 2), builders };
};

const replicasSchema = z.object({ replicas: z.number() }).catch({ replicas: 0 });

/** The number of Macs, and of machines that the fleets request. */
export const desiredMachines = async (
  client: Client,
  macs: number,
): Promise<{ readonly macs: number; readonly wanted: number }> => {
  const { items } = await client.list(coreKinds.machineDeployments, { namespace });
  return { macs, wanted: items.reduce((sum, { spec }) => sum + replicasSchema.parse(spec).replicas, 0) };
};
