export type Action = 'list' | 'read' | 'create' | 'update' | 'delete';
export type Resource = 'server' | 'os' | 'ssh_key';

interface PermissionSet {
  readonly resources: readonly Resource[];
  readonly writes: boolean;
}

/** Permission sets of Scaleway's IAM that say anything about what is played here. */
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
