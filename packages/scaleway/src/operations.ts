/** The operations of Scaleway's API. The name is a metric label. */
export type OperationName =
  | 'listServers'
  | 'getServer'
  | 'rename'
  | 'reinstall'
  | 'reboot'
  | 'listImages'
  | 'listKeys'
  | 'createKey'
  | 'deleteKey';

interface OperationRules {
  /**
   * Idempotent. Other operations are sent only once: after a lost response, a second wipe may hit a server that has changed since, so the
   * caller reads its state first.
   */
  readonly repeatable: boolean;
  /** The permission set that the key's policy needs (INC-333). Keys do not need `IAMManager`. */
  readonly permissionSet: 'AppleSiliconFullAccess' | 'SSHKeysFullAccess';
}

const onMacs = { permissionSet: 'AppleSiliconFullAccess' } as const;
const onKeys = { permissionSet: 'SSHKeysFullAccess' } as const;

export const operations: Readonly<Record<OperationName, OperationRules>> = {
  listServers: { repeatable: true, ...onMacs },
  getServer: { repeatable: true, ...onMacs },
  rename: { repeatable: true, ...onMacs },
  reinstall: { repeatable: false, ...onMacs },
  reboot: { repeatable: false, ...onMacs },
  listImages: { repeatable: true, ...onMacs },
  listKeys: { repeatable: true, ...onKeys },
  createKey: { repeatable: false, ...onKeys },
  deleteKey: { repeatable: true, ...onKeys },
};
