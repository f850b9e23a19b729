import { fieldsOf } from '../requests/body.ts';
import { isUUID } from '../requests/is-uuid.ts';
import { page } from '../requests/pages.ts';
import {
  invalidArgument,
  locked,
  notFound,
  permissionsDenied,
  preconditionFailed,
  transientState,
} from '../requests/refusals.ts';
import type { Answer, ApiRequest, Outcome } from '../requests/request.ts';
import { reaches, type World } from '../requests/world.ts';
import { defaultImage, type Image, imageJSON } from './images.ts';
import { serverJSON } from './server-json.ts';
import { deletableAt, type ServerRecord, transientStates } from './server-record.ts';

/** What the Apple-silicon API answers, and what becomes of it. */

const refuse = (answer: Answer): Outcome => ({ answer });

export const listServers = (world: World, { query }: ApiRequest, { zone }: { zone: string }): Outcome => {
  const projectID = query.get('project_id');
  if (projectID !== null && !reaches(world, projectID)) return refuse(permissionsDenied('list', 'server'));
  const order = query.get('order_by') ?? 'created_at_asc';
  if (order !== 'created_at_asc' && order !== 'created_at_desc')
    return refuse(invalidArgument('order_by', 'constraint'));
  const found = [...world.servers.values()].filter(
    (server) =>
      server.zone === zone && reaches(world, server.projectID) && (projectID ?? server.projectID) === server.projectID,
  );
  if (order === 'created_at_desc') found.reverse();
  return { answer: page(query, 'servers', found, (server) => serverJSON(world, server, 'a read')) };
};

export const listImages = (world: World, { query }: ApiRequest): Outcome => {
  const type = query.get('server_type');
  const name = query.get('name') ?? '';
  const found = world.images.filter(
    (image) => image.name.startsWith(name) && (type === null || image.serverTypes.includes(type)),
  );
  return { answer: page(query, 'os', found, (image) => imageJSON(image, 'in a list')) };
};

interface OneServer {
  readonly zone: string;
  readonly id: string;
}

/** Looks the server up for one of the calls below; says no in its place if there is none to be had. */
const withServer =
  (
    action: 'read' | 'update' | 'delete',
    answer: (world: World, server: ServerRecord, request: ApiRequest) => Outcome,
  ): ((world: World, request: ApiRequest, where: OneServer) => Outcome) =>
  (world, request, { zone, id }) => {
    if (!isUUID(id)) return refuse(invalidArgument('server_id', 'format'));
    const server = world.servers.get(id.toLowerCase());
    if (server?.zone === zone) {
      return reaches(world, server.projectID)
        ? answer(world, server, request)
        : refuse(permissionsDenied(action, 'server'));
    }
    return refuse(world.faults.goneServer === 'denied' ? permissionsDenied(action, 'server') : notFound('server', id));
  };

export const getServer = withServer('read', (world, server) => ({
  answer: { status: 200, body: serverJSON(world, server, 'a read') },
}));

/** Unconditional: the last write wins. */
export const renameServer = withServer('update', (world, server, { body }) => {
  const fields = fieldsOf(body);
  if (fields === undefined) return refuse(invalidArgument('body', 'format'));
  const { name = server.name } = fields;
  if (typeof name !== 'string') return refuse(invalidArgument('name', 'format'));
  if (name === '') return refuse(invalidArgument('name', 'constraint', 'must not be empty'));
  if (server.status === 'reinstalling' && world.faults.renameWhileReinstalling === 'refused') {
    return refuse(transientState('server', server.id, server.status));
  }
  return {
    answer: { status: 200, body: serverJSON(world, { ...server, name, updatedAt: world.now }, 'a write') },
    change: { kind: 'rename', id: server.id, name },
  };
});

/** A server that is in the middle of something, or locked, begins nothing else. */
const busy = ({ id, status }: ServerRecord): Answer | undefined => {
  if (status === 'locked') return locked('server', id);
  return transientStates.has(status) ? transientState('server', id, status) : undefined;
};

export const rebootServer = withServer('update', (world, server) => {
  const refusal = busy(server);
  if (refusal) return refuse(refusal);
  const rebooting = { ...server, status: 'rebooting', updatedAt: world.now };
  return {
    answer: { status: 200, body: serverJSON(world, rebooting, 'a write') },
    change: { kind: 'reboot', id: server.id },
  };
});

/** The image that is asked for, or the default of the type: what was retired is gone from the catalogue (INC-328). */
const imageFor = (world: World, server: ServerRecord, id: unknown): Image | Answer => {
  if (id === undefined || id === null || id === '') {
    return defaultImage(world.images, server.type) ?? invalidArgument('os_id', 'required');
  }
  if (typeof id !== 'string' || !isUUID(id)) return invalidArgument('os_id', 'format');
  const image = world.images.find((each) => each.id === id && each.serverTypes.includes(server.type));
  return image ?? invalidArgument('os_id', 'constraint', 'no such operating system for this server type');
};

export const reinstallServer = withServer('update', (world, server, { body }) => {
  const fields = fieldsOf(body);
  if (fields === undefined) return refuse(invalidArgument('body', 'format'));
  const image = imageFor(world, server, fields['os_id']);
  if ('status' in image) return refuse(image);
  const refusal = busy(server);
  if (refusal) return refuse(refusal);
  const reinstalling = { ...server, status: 'reinstalling', updatedAt: world.now };
  return {
    answer: { status: 200, body: serverJSON(world, reinstalling, 'a write') },
    change: { kind: 'reinstall', id: server.id, image },
  };
});

export const deleteServer = withServer('delete', (world, server) =>
  world.now < deletableAt(server)
    ? refuse(preconditionFailed('resource_not_usable', 'a server is rented for 24 hours at least'))
    : { answer: { status: 204 }, change: { kind: 'delete server', id: server.id } },
);
