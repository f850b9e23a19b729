import { createHash } from 'node:crypto';
import type { SimulatedScaleway } from '../scaleway.ts';
import { invalidArgument, notFound, permissionsDenied } from './errors.ts';
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

/** A registered public key of a project. */
export type Key = ReturnType<SimulatedScaleway['keys']>[number] & { readonly createdAt: number };

const kinds: ReadonlySet<string> = new Set([
  'ssh-ed25519',
  'ssh-rsa',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'sk-ssh-ed25519@openssh.com',
]);

/** The bytes of a key in OpenSSH's format: `kind base64 comment`; the bytes begin with the kind. */
const bytesOf = (publicKey: string): Buffer | undefined => {
  const [kind = '', encoded = ''] = publicKey.trim().split(/\s+/);
  if (!kinds.has(kind) || /[\r\n]/.test(publicKey.trim())) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  const said = bytes.length < 4 ? '' : bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString();
  return said === kind ? bytes : undefined;
};

export const isPublicKey = (text: string): boolean => bytesOf(text) !== undefined;

/** Scaleway has `256 MD5:… (ED25519)`; clients only need it to differ between keys. */
export const fingerprint = (publicKey: string): string =>
  `SHA256:${createHash('sha256')
    .update(bytesOf(publicKey) ?? '')
    .digest('base64')
    .replace(/=+$/, '')}`;

/** The IAM API of SSH keys. */

const refuse = (answer: ApiResponse): Outcome => ({ answer });

const keyJSON = (snapshot: Snapshot, key: Key): unknown => ({
  id: key.id,
  name: key.name,
  public_key: key.publicKey,
  fingerprint: fingerprint(key.publicKey),
  project_id: key.projectID,
  organization_id: snapshot.organizationID,
  created_at: new Date(key.createdAt).toISOString(),
  updated_at: new Date(key.createdAt).toISOString(),
  disabled: false,
});

/** Without `project_id` it lists the whole organization, which a project's API key may not read (INC-333). */
export const listKeys = (snapshot: Snapshot, { query }: ApiRequest): Outcome => {
  const projectID = query.get('project_id') ?? undefined;
  if (snapshot.projectID !== undefined && projectID !== snapshot.projectID) {
    return refuse(permissionsDenied('list', 'ssh_key'));
  }
  const name = query.get('name') ?? '';
  const found = [...snapshot.keys.values()].filter(
    (key) => (projectID ?? key.projectID) === key.projectID && key.name.includes(name),
  );
  return { answer: paginate(query, 'ssh_keys', found, (key) => keyJSON(snapshot, key)) };
};

/** Names are not unique: the same name twice is two keys (INC-331). */
export const createKey = (snapshot: Snapshot, { body }: ApiRequest): Outcome => {
  const { name, project_id: projectID, public_key: publicKey } = parseBody(body) ?? {};
  if (typeof projectID !== 'string') return refuse(invalidArgument('project_id', 'required'));
  if (!canAccess(snapshot, projectID)) return refuse(permissionsDenied('create', 'ssh_key'));
  if (typeof publicKey !== 'string') return refuse(invalidArgument('public_key', 'required'));
  if (!isPublicKey(publicKey)) return refuse(invalidArgument('public_key', 'format'));
  if (name !== undefined && (typeof name !== 'string' || name.length > 1000)) {
    return refuse(invalidArgument('name', 'constraint'));
  }
  const id = snapshot.newID();
  const key: Key = { id, name: name ?? `key-${id}`, publicKey: publicKey.trim(), projectID, createdAt: snapshot.now };
  return { answer: { status: 200, body: keyJSON(snapshot, key) }, change: { kind: 'create key', key } };
};

export const deleteKey = (snapshot: Snapshot, _request: ApiRequest, { id }: { id: string }): Outcome => {
  if (!isUUID(id)) return refuse(invalidArgument('ssh_key_id', 'format'));
  const key = snapshot.keys.get(id.toLowerCase());
  if (key === undefined) return refuse(notFound('ssh_key', id));
  if (!canAccess(snapshot, key.projectID)) return refuse(permissionsDenied('delete', 'ssh_key'));
  return { answer: { status: 204 }, change: { kind: 'delete key', id: key.id } };
};
