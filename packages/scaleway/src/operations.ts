/** What can be asked of Scaleway. The name is a metric label. */
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
   * Done twice is as good as once. What is not is tried once only: after a lost answer a second wipe may hit what has changed since,
   * so whoever asked looks first.
   */
  readonly repeatable: boolean;
  /** What the key's policy must hold (INC-333). `IAMManager` is not needed for keys. */
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
