import { deniedAuthentication, permissionsDenied } from './errors.ts';
import { type ApiRequest, type ApiResponse, isUUID, type Outcome, type Snapshot } from './handler.ts';
import {
  deleteServer,
  getServer,
  listImages,
  listServers,
  rebootServer,
  reinstallServer,
  renameServer,
} from './servers.ts';
import { createKey, deleteKey, listKeys } from './ssh-keys.ts';

export type Action = 'list' | 'read' | 'create' | 'update' | 'delete';
export type Resource = 'server' | 'os' | 'ssh_key';

interface PermissionSet {
  readonly resources: readonly Resource[];
  readonly writes: boolean;
}

/** Permission sets of Scaleway's IAM that concern the simulated APIs. */
const permissionSets: Readonly<Record<string, PermissionSet>> = {
  AppleSiliconFullAccess: { resources: ['server', 'os'], writes: true },
  AppleSiliconReadOnly: { resources: ['server', 'os'], writes: false },
  SSHKeysFullAccess: { resources: ['ssh_key'], writes: true },
  SSHKeysReadOnly: { resources: ['ssh_key'], writes: false },
};

export const isAllowed = (sets: readonly string[], action: Action, resource: Resource): boolean =>
  sets.some((name) => {
    const set = permissionSets[name];
    return set?.resources.includes(resource) === true && (set.writes || action === 'list' || action === 'read');
  });

/** Zones with Macs, as the SDK lists them for the two parts of the API. */
export const zones: readonly string[] = ['fr-par-1', 'fr-par-3'];

interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly action: Action;
  readonly resource: Resource;
  readonly answer: (snapshot: Snapshot, request: ApiRequest, where: { zone: string; id: string }) => Outcome;
}

const macs = '^/apple-silicon/v1alpha1/zones/(?<zone>[^/]+)';
const keys = '^/iam/v1alpha1/ssh-keys';

const route = (method: string, path: string, action: Action, resource: Resource, answer: Route['answer']): Route => ({
  method,
  path: new RegExp(path),
  action,
  resource,
  answer,
});

const routes: readonly Route[] = [
  route('GET', `${macs}/servers$`, 'list', 'server', listServers),
  route('GET', `${macs}/servers/(?<id>[^/]+)$`, 'read', 'server', getServer),
  route('PATCH', `${macs}/servers/(?<id>[^/]+)$`, 'update', 'server', renameServer),
  route('DELETE', `${macs}/servers/(?<id>[^/]+)$`, 'delete', 'server', deleteServer),
  route('POST', `${macs}/servers/(?<id>[^/]+)/reboot$`, 'update', 'server', rebootServer),
  route('POST', `${macs}/servers/(?<id>[^/]+)/reinstall$`, 'update', 'server', reinstallServer),
  route('GET', `${macs}/os$`, 'list', 'os', listImages),
  route('GET', `${keys}$`, 'list', 'ssh_key', listKeys),
  route('POST', `${keys}$`, 'create', 'ssh_key', createKey),
  route('DELETE', `${keys}/(?<id>[^/]+)$`, 'delete', 'ssh_key', deleteKey),
];

/** Without a type, as recorded in scaleway-cli#4378. */
const unknownZone: ApiResponse = { status: 400, body: { message: 'Unknown zone in path' } };
const unknownPath: ApiResponse = { status: 404, body: { message: 'page not found' } };

/** The whole API: returns an answer to every request, and its effect. Pure. */
export const handleRequest = (snapshot: Snapshot, request: ApiRequest): Outcome => {
  const { token = '' } = request;
  if (!isUUID(token)) return { answer: deniedAuthentication('invalid_argument') };
  if (token !== snapshot.secretKey) return { answer: deniedAuthentication('not_found') };
  for (const { method, path, action, resource, answer } of routes) {
    const match = method === request.method ? path.exec(request.path) : null;
    if (match === null) continue;
    const { zone, id = '' } = match.groups ?? {};
    if (zone !== undefined && !zones.includes(zone)) return { answer: unknownZone };
    if (!isAllowed(snapshot.permissions, action, resource)) return { answer: permissionsDenied(action, resource) };
    return answer(snapshot, request, { zone: zone ?? '', id });
  }
  return { answer: unknownPath };
};
