import type { Owner } from './runner-service.ts';

/** `acme` or `acme/app`, for messages. */
export const ownerName = (owner: Owner): string =>
  owner.kind === 'organization' ? owner.organization : owner.repository;

/** GitHub's rules are stricter; these exclude everything that would change the path, including `.` and `..`. */
const segment = String.raw`(?!\.{1,2}(?:/|$))[\w.-]+`;
const organizationName = new RegExp(`^${segment}$`);
const repositoryName = new RegExp(`^${segment}/${segment}$`);

const isRepository = (text: string): text is `${string}/${string}` => repositoryName.test(text);

/** The owner of a RunnerPool's runners, from `spec.github`. */
export const ownerOf = (github: {
  readonly organization?: string | undefined;
  readonly repository?: string | undefined;
}): Owner | { readonly problem: string } => {
  const { organization, repository } = github;
  if ((organization === undefined) === (repository === undefined)) {
    return { problem: 'Runners belong to an organization or to a repository: set exactly one of them.' };
  }
  if (organization !== undefined) {
    return organizationName.test(organization)
      ? { kind: 'organization', organization }
      : { problem: `${JSON.stringify(organization)} is no organization. Write its name as in its address at GitHub.` };
  }
  return repository !== undefined && isRepository(repository)
    ? { kind: 'repository', repository }
    : { problem: `${JSON.stringify(repository)} is no repository. Write it as owner/name.` };
};

/** The owner's parameters in paths. */
export const pathParametersOf = (owner: Owner): Readonly<Record<string, string>> => {
  if (owner.kind === 'organization') return { org: owner.organization };
  return repositoryParameters(owner.repository);
};

export const repositoryParameters = (fullName: string): Readonly<Record<string, string>> => {
  const [account = '', name = ''] = fullName.split('/');
  return { owner: account, repo: name };
};
