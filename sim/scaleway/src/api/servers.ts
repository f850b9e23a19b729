import type { ScalewayFaults } from '../scaleway.ts';
import { defaultImage, type Image, imageJSON } from '../servers/images.ts';
import { deletableAt, type ServerRecord, transientStates } from '../servers/server-record.ts';
import { invalidArgument, locked, notFound, permissionsDenied, preconditionFailed, transientState } from './errors.ts';
import {
  type ApiRequest,
  type ApiResponse,
  canAccess,
  isUUID,
  type Outcome,
  paginate,
  parseBody,
  type Snapshot,
} from './handler.ts';

/** Scaleway's value for a password that it does not reveal (INC-207). */
const sealed = '<sealed>';

/** Scaleway shows the password only shortly after the order. */
const shownForMs = 10 * 60_000;

export interface PasswordContext {
  readonly user: string;
  readonly password: string;
  /** Of VNC, `host:port`. */
  readonly address: string;
  /** Since the order, in Scaleway's own time. */
  readonly age: number;
  /** Answers to writes have sealed values, as recorded; only reads show them. */
  readonly to: 'read' | 'write';
  readonly mode: ScalewayFaults['password'];
}

/** The two fields that can hold the password. */
export const passwordFields = (occasion: PasswordContext): { sudo_password: string; vnc_url: string } => {
  const { user, password, address, mode } = occasion;
  if (occasion.to === 'write' || mode === 'sealed') return { sudo_password: sealed, vnc_url: sealed };
  if (mode === 'empty') return { sudo_password: '', vnc_url: `vnc://${user}:@${address}` };
  const isShown = mode === 'shortly after the order' && occasion.age < shownForMs;
  return {
    sudo_password: isShown ? password : '',
    vnc_url: `vnc://${user}:${encodeURIComponent(password)}@${address}`,
  };
};

const vncPort = 59_010;
const defaultUser = 'm1';

const timestamp = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** A server in the wire format: every field of a recorded answer. */
const serverJSON = (snapshot: Snapshot, server: ServerRecord, to: 'read' | 'write'): unknown => ({
  id: server.id,
  type: server.type,
  name: server.name,
  project_id: server.projectID,
  organization_id: snapshot.organizationID,
  ip: server.ip,
  ssh_username: server.mac?.user.name ?? defaultUser,
  vnc_port: vncPort,
  ...passwordFields({
    user: server.mac?.user.name ?? defaultUser,
    password: server.password,
    address: `${server.ip.replace(/:.*$/, '')}:${vncPort}`,
    age: snapshot.pace > 0 ? (snapshot.now - server.createdAt) / snapshot.pace : Number.POSITIVE_INFINITY,
    to,
    mode: snapshot.faults.password,
  }),
  os: imageJSON(server.os, 'in a server'),
  status: server.status,
  created_at: timestamp(server.createdAt),
  updated_at: timestamp(server.updatedAt),
  deletable_at: timestamp(deletableAt(server)),
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

/** The Apple-silicon API. */

const refuse = (answer: ApiResponse): Outcome => ({ answer });

export const listServers = (snapshot: Snapshot, { query }: ApiRequest, { zone }: { zone: string }): Outcome => {
  const projectID = query.get('project_id');
  if (projectID !== null && !canAccess(snapshot, projectID)) return refuse(permissionsDenied('list', 'server'));
  const order = query.get('order_by') ?? 'created_at_asc';
  if (order !== 'created_at_asc' && order !== 'created_at_desc')
    return refuse(invalidArgument('order_by', 'constraint'));
  const found = [...snapshot.servers.values()].filter(
    (server) =>
      server.zone === zone &&
      canAccess(snapshot, server.projectID) &&
      (projectID ?? server.projectID) === server.projectID,
  );
  if (order === 'created_at_desc') found.reverse();
  return { answer: paginate(query, 'servers', found, (server) => serverJSON(snapshot, server, 'read')) };
};

export const listImages = (snapshot: Snapshot, { query }: ApiRequest): Outcome => {
  const type = query.get('server_type');
  const name = query.get('name') ?? '';
  const found = snapshot.images.filter(
    (image) => image.name.startsWith(name) && (type === null || image.serverTypes.includes(type)),
  );
  return { answer: paginate(query, 'os', found, (image) => imageJSON(image, 'in a list')) };
};

interface OneServer {
  readonly zone: string;
  readonly id: string;
}

/** Finds the server for one of the calls below, or refuses the call. */
const withServer =
  (
    action: 'read' | 'update' | 'delete',
    answer: (snapshot: Snapshot, server: ServerRecord, request: ApiRequest) => Outcome,
  ): ((snapshot: Snapshot, request: ApiRequest, where: OneServer) => Outcome) =>
  (snapshot, request, { zone, id }) => {
    if (!isUUID(id)) return refuse(invalidArgument('server_id', 'format'));
    const server = snapshot.servers.get(id.toLowerCase());
    if (server?.zone === zone) {
      return canAccess(snapshot, server.projectID)
        ? answer(snapshot, server, request)
        : refuse(permissionsDenied(action, 'server'));
    }
    return refuse(
      snapshot.faults.goneServer === 'denied' ? permissionsDenied(action, 'server') : notFound('server', id),
    );
  };

export const getServer = withServer('read', (snapshot, server) => ({
  answer: { status: 200, body: serverJSON(snapshot, server, 'read') },
}));

/** Unconditional: the last write wins. */
export const renameServer = withServer('update', (snapshot, server, { body }) => {
  const fields = parseBody(body);
  if (fields === undefined) return refuse(invalidArgument('body', 'format'));
  const { name = server.name } = fields;
  if (typeof name !== 'string') return refuse(invalidArgument('name', 'format'));
  if (name === '') return refuse(invalidArgument('name', 'constraint', 'must not be empty'));
  if (server.status === 'reinstalling' && snapshot.faults.renameWhileReinstalling === 'refused') {
    return refuse(transientState('server', server.id, server.status));
  }
  return {
    answer: { status: 200, body: serverJSON(snapshot, { ...server, name, updatedAt: snapshot.now }, 'write') },
    change: { kind: 'rename', id: server.id, name },
  };
});

/** A server that is busy or locked accepts no other operation. */
const busy = ({ id, status }: ServerRecord): ApiResponse | undefined => {
  if (status === 'locked') return locked('server', id);
  return transientStates.has(status) ? transientState('server', id, status) : undefined;
};

export const rebootServer = withServer('update', (snapshot, server) => {
  const refusal = busy(server);
  if (refusal) return refuse(refusal);
  const rebooting = { ...server, status: 'rebooting', updatedAt: snapshot.now };
  return {
    answer: { status: 200, body: serverJSON(snapshot, rebooting, 'write') },
    change: { kind: 'reboot', id: server.id },
  };
});

/** The requested image, or the default of the type: a retired image is not in the catalogue any more (INC-328). */
const imageFor = (snapshot: Snapshot, server: ServerRecord, id: unknown): Image | ApiResponse => {
  if (id === undefined || id === null || id === '') {
    return defaultImage(snapshot.images, server.type) ?? invalidArgument('os_id', 'required');
  }
  if (typeof id !== 'string' || !isUUID(id)) return invalidArgument('os_id', 'format');
  const image = snapshot.images.find((each) => each.id === id && each.serverTypes.includes(server.type));
  return image ?? invalidArgument('os_id', 'constraint', 'no such operating system for this server type');
};

export const reinstallServer = withServer('update', (snapshot, server, { body }) => {
  const fields = parseBody(body);
  if (fields === undefined) return refuse(invalidArgument('body', 'format'));
  const image = imageFor(snapshot, server, fields['os_id']);
  if ('status' in image) return refuse(image);
  const refusal = busy(server);
  if (refusal) return refuse(refusal);
  const reinstalling = { ...server, status: 'reinstalling', updatedAt: snapshot.now };
  return {
    answer: { status: 200, body: serverJSON(snapshot, reinstalling, 'write') },
    change: { kind: 'reinstall', id: server.id, image },
  };
});

export const deleteServer = withServer('delete', (snapshot, server) =>
  snapshot.now < deletableAt(server)
    ? refuse(preconditionFailed('resource_not_usable', 'a server is rented for 24 hours at least'))
    : { answer: { status: 204 }, change: { kind: 'delete server', id: server.id } },
);
