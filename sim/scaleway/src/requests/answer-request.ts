import { createKey, deleteKey, listKeys } from '../keys/answers.ts';
import {
  deleteServer,
  getServer,
  listImages,
  listServers,
  rebootServer,
  reinstallServer,
  renameServer,
} from '../servers/answers.ts';
import { isUUID } from './is-uuid.ts';
import { type Action, isAllowed, type Resource } from './permissions.ts';
import { deniedAuthentication, permissionsDenied } from './refusals.ts';
import type { Answer, ApiRequest, Outcome } from './request.ts';
import type { World } from './world.ts';

/** Zones that have Macs: those that the SDK names for the two parts of the API. */
export const zones: readonly string[] = ['fr-par-1', 'fr-par-3'];

interface Operation {
  readonly method: string;
  readonly path: RegExp;
  readonly action: Action;
  readonly resource: Resource;
  readonly answer: (world: World, request: ApiRequest, where: { zone: string; id: string }) => Outcome;
}

const macs = '^/apple-silicon/v1alpha1/zones/(?<zone>[^/]+)';
const keys = '^/iam/v1alpha1/ssh-keys';

const operation = (
  method: string,
  path: string,
  action: Action,
  resource: Resource,
  answer: Operation['answer'],
): Operation => ({ method, path: new RegExp(path), action, resource, answer });

const operations: readonly Operation[] = [
  operation('GET', `${macs}/servers$`, 'list', 'server', listServers),
  operation('GET', `${macs}/servers/(?<id>[^/]+)$`, 'read', 'server', getServer),
  operation('PATCH', `${macs}/servers/(?<id>[^/]+)$`, 'update', 'server', renameServer),
  operation('DELETE', `${macs}/servers/(?<id>[^/]+)$`, 'delete', 'server', deleteServer),
  operation('POST', `${macs}/servers/(?<id>[^/]+)/reboot$`, 'update', 'server', rebootServer),
  operation('POST', `${macs}/servers/(?<id>[^/]+)/reinstall$`, 'update', 'server', reinstallServer),
  operation('GET', `${macs}/os$`, 'list', 'os', listImages),
  operation('GET', `${keys}$`, 'list', 'ssh_key', listKeys),
  operation('POST', `${keys}$`, 'create', 'ssh_key', createKey),
  operation('DELETE', `${keys}/(?<id>[^/]+)$`, 'delete', 'ssh_key', deleteKey),
];

/** Without a type, as recorded in scaleway-cli#4378. */
const unknownZone: Answer = { status: 400, body: { message: 'Unknown zone in path' } };
const unknownPath: Answer = { status: 404, body: { message: 'page not found' } };

/** The whole of the API: an answer to anything, and what it changes. Changes nothing itself. */
export const answerRequest = (world: World, request: ApiRequest): Outcome => {
  const { token = '' } = request;
  if (!isUUID(token)) return { answer: deniedAuthentication('invalid_argument') };
  if (token !== world.secretKey) return { answer: deniedAuthentication('not_found') };
  for (const { method, path, action, resource, answer } of operations) {
    const match = method === request.method ? path.exec(request.path) : null;
    if (match === null) continue;
    const { zone, id = '' } = match.groups ?? {};
    if (zone !== undefined && !zones.includes(zone)) return { answer: unknownZone };
    if (!isAllowed(world.permissions, action, resource)) return { answer: permissionsDenied(action, resource) };
    return answer(world, request, { zone: zone ?? '', id });
  }
  return { answer: unknownPath };
};
