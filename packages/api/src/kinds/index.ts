import { cluster } from './cluster.ts';
import { externalControlPlane } from './external-control-plane.ts';
import { macFleet } from './mac-fleet.ts';
import { macHost } from './mac-host.ts';
import { machine, machineTemplate } from './machine.ts';
import { runnerPool } from './runner-pool.ts';

/** Every kind of ours, in the order of docs/reference/resources.md. */
export const kinds = [machine, machineTemplate, macHost, macFleet, cluster, externalControlPlane, runnerPool] as const;
