type Level = 'read' | 'write';
export type Permissions = Readonly<Record<string, Level>>;

/** The permission of an operation, as the REST API names it under "Fine-grained access tokens". */
export interface RequiredPermission {
  readonly permission: 'organization_self_hosted_runners' | 'administration' | 'actions';
  readonly level: Level;
}

export const isAllowed = (granted: Permissions, { permission, level }: RequiredPermission): boolean =>
  granted[permission] === 'write' || granted[permission] === level;

/** Whether all requested permissions are granted. */
export const isSubset = (granted: Permissions, asked: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(asked).every(
    ([permission, level]) => granted[permission] === 'write' || (level === 'read' && granted[permission] === 'read'),
  );

/** One account with the App installed. */
export interface Installation {
  readonly id: number;
  readonly account: string;
  /** Names without the account. */
  readonly repositories: readonly string[];
  readonly permissions: Permissions;
  suspended?: boolean;
}

/** Names are not case sensitive. */
export const isSameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** `owner`: `acme` or `acme/app`. In its canonical spelling; undefined if the installation has no access to it. */
export const canonicalName = (installation: Installation, owner: string): string | undefined => {
  const [account = '', repository] = owner.split('/');
  if (!isSameName(account, installation.account)) return undefined;
  if (repository === undefined) return installation.account;
  const found = installation.repositories.find((name) => isSameName(name, repository));
  return found === undefined ? undefined : `${installation.account}/${found}`;
};
