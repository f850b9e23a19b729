type Level = 'read' | 'write';
export type Permissions = Readonly<Record<string, Level>>;

/** What an operation needs, as the REST API names it below "Fine-grained access tokens". */
export interface RequiredPermission {
  readonly permission: 'organization_self_hosted_runners' | 'administration' | 'actions';
  readonly level: Level;
}

export const isAllowed = (granted: Permissions, { permission, level }: RequiredPermission): boolean =>
  granted[permission] === 'write' || granted[permission] === level;

/** Whether nothing more is asked for than there is. */
export const isSubset = (granted: Permissions, asked: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(asked).every(
    ([permission, level]) => granted[permission] === 'write' || (level === 'read' && granted[permission] === 'read'),
  );

/** One account in which the App is installed. */
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

/** `owner`: `acme` or `acme/app`. As it is really written, or nothing if the installation has not to do with it. */
export const canonicalName = (installation: Installation, owner: string): string | undefined => {
  const [account = '', repository] = owner.split('/');
  if (!isSameName(account, installation.account)) return undefined;
  if (repository === undefined) return installation.account;
  const found = installation.repositories.find((name) => isSameName(name, repository));
  return found === undefined ? undefined : `${installation.account}/${found}`;
};
