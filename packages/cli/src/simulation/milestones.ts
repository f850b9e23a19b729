import { machine, macHost } from '@tartan/api';
import type { Client } from '@tartan/kube';
import { z } from 'zod';
import { fleetNamespace as namespace } from './control-plane.ts';
import { coreKinds } from './fleets.ts';
import { until } from './until.ts';

/** Waits, by a watch, until the provider knows so many Macs. False: the signal fired before. */
export const untilFound = (client: Client, count: number, signal: AbortSignal): Promise<boolean> =>
  until(
    client,
    macHost.resource,
    (hosts) => hosts.filter(({ status }) => status?.state !== undefined).length >= count,
    signal,
  );

const replicas = z.object({ replicas: z.number() }).catch({ replicas: 0 });

/** Machines that the fleets ask for, as they are by now, and so many as can get a Mac. */
export const wantedMachines = async (
  client: Client,
  macs: number,
): Promise<{ readonly macs: number; readonly wanted: number }> => {
  const { items } = await client.list(coreKinds.machineDeployments, { namespace });
  return { macs, wanted: items.reduce((sum, { spec }) => sum + replicas.parse(spec).replicas, 0) };
};

/** The same, until that many machines are Ready. */
export const untilReady = (client: Client, count: number, signal: AbortSignal): Promise<boolean> =>
  until(
    client,
    machine.resource,
    (machines) => machines.filter(({ status }) => status?.ready === true).length >= count,
    signal,
  );
