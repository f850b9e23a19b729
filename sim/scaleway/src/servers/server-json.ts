import type { World } from '../requests/world.ts';
import { imageJSON } from './images.ts';
import { passwordShown } from './password-shown.ts';
import { deletableAt, type ServerRecord } from './server-record.ts';

const vncPort = 59_010;
const user = 'm1';

const time = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** A server as the API writes it: every field that a recorded answer has. */
export const serverJSON = (world: World, server: ServerRecord, to: 'a read' | 'a write'): unknown => ({
  id: server.id,
  type: server.type,
  name: server.name,
  project_id: server.projectID,
  organization_id: world.organizationID,
  ip: server.ip,
  ssh_username: server.mac?.user.name ?? user,
  vnc_port: vncPort,
  ...passwordShown({
    user: server.mac?.user.name ?? user,
    password: server.password,
    address: `${server.ip.replace(/:.*$/, '')}:${vncPort}`,
    age: world.pace > 0 ? (world.now - server.createdAt) / world.pace : Number.POSITIVE_INFINITY,
    to,
    told: world.faults.password,
  }),
  os: imageJSON(server.os, 'in a server'),
  status: server.status,
  created_at: time(server.createdAt),
  updated_at: time(server.updatedAt),
  deletable_at: time(deletableAt(server)),
  deletion_scheduled: false,
  zone: server.zone,
  delivered: server.delivered,
  vpc_status: 'vpc_disabled',
  commitment: { type: 'duration_24h', cancelled: false },
  public_bandwidth_bps: 1_000_000_000,
  runner_configuration: null,
  applied_runner_configuration_ids: [],
  tags: [],
});
