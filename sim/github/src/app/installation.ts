import type { Permissions } from './permissions.ts';

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
export const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** `owner`: `acme` or `acme/app`. As it is really written, or nothing if the installation has not to do with it. */
export const reached = (installation: Installation, owner: string): string | undefined => {
  const [account = '', repository] = owner.split('/');
  if (!isSame(account, installation.account)) return undefined;
  if (repository === undefined) return installation.account;
  const found = installation.repositories.find((name) => isSame(name, repository));
  return found === undefined ? undefined : `${installation.account}/${found}`;
};
