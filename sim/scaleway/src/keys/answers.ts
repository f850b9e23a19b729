import { fieldsOf } from '../requests/body.ts';
import { isUUID } from '../requests/is-uuid.ts';
import { page } from '../requests/pages.ts';
import { invalidArgument, notFound, permissionsDenied } from '../requests/refusals.ts';
import type { Answer, ApiRequest, Outcome } from '../requests/request.ts';
import { reaches, type World } from '../requests/world.ts';
import type { Key } from './key.ts';
import { fingerprint, isPublicKey } from './public-key.ts';

/** What IAM answers about SSH keys, and what becomes of it. */

const refuse = (answer: Answer): Outcome => ({ answer });

const keyJSON = (world: World, key: Key): unknown => ({
  id: key.id,
  name: key.name,
  public_key: key.publicKey,
  fingerprint: fingerprint(key.publicKey),
  project_id: key.projectID,
  organization_id: world.organizationID,
  created_at: new Date(key.createdAt).toISOString(),
  updated_at: new Date(key.createdAt).toISOString(),
  disabled: false,
});

/** Without `project_id` it is a list of the whole organization, which a key of one project may not have (INC-333). */
export const listKeys = (world: World, { query }: ApiRequest): Outcome => {
  const projectID = query.get('project_id') ?? undefined;
  if (world.projectID !== undefined && projectID !== world.projectID) {
    return refuse(permissionsDenied('list', 'ssh_key'));
  }
  const name = query.get('name') ?? '';
  const found = [...world.keys.values()].filter(
    (key) => (projectID ?? key.projectID) === key.projectID && key.name.includes(name),
  );
  return { answer: page(query, 'ssh_keys', found, (key) => keyJSON(world, key)) };
};

/** Names are not unique: the same name twice is two keys (INC-331). */
export const createKey = (world: World, { body }: ApiRequest): Outcome => {
  const { name, project_id: projectID, public_key: publicKey } = fieldsOf(body) ?? {};
  if (typeof projectID !== 'string') return refuse(invalidArgument('project_id', 'required'));
  if (!reaches(world, projectID)) return refuse(permissionsDenied('create', 'ssh_key'));
  if (typeof publicKey !== 'string') return refuse(invalidArgument('public_key', 'required'));
  if (!isPublicKey(publicKey)) return refuse(invalidArgument('public_key', 'format'));
  if (name !== undefined && (typeof name !== 'string' || name.length > 1000)) {
    return refuse(invalidArgument('name', 'constraint'));
  }
  const id = world.newID();
  const key: Key = { id, name: name ?? `key-${id}`, publicKey: publicKey.trim(), projectID, createdAt: world.now };
  return { answer: { status: 200, body: keyJSON(world, key) }, change: { kind: 'create key', key } };
};

export const deleteKey = (world: World, _request: ApiRequest, { id }: { id: string }): Outcome => {
  if (!isUUID(id)) return refuse(invalidArgument('ssh_key_id', 'format'));
  const key = world.keys.get(id.toLowerCase());
  if (key === undefined) return refuse(notFound('ssh_key', id));
  if (!reaches(world, key.projectID)) return refuse(permissionsDenied('delete', 'ssh_key'));
  return { answer: { status: 204 }, change: { kind: 'delete key', id: key.id } };
};
