type Level = 'read' | 'write';
export type Permissions = Readonly<Record<string, Level>>;

/** What an operation needs, as the REST API names it below "Fine-grained access tokens". */
export interface Needs {
  readonly permission: 'organization_self_hosted_runners' | 'administration' | 'actions';
  readonly level: Level;
}

export const allows = (granted: Permissions, { permission, level }: Needs): boolean =>
  granted[permission] === 'write' || granted[permission] === level;

/** Whether nothing more is asked for than there is. */
export const isWithin = (granted: Permissions, asked: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(asked).every(
    ([permission, level]) => granted[permission] === 'write' || (level === 'read' && granted[permission] === 'read'),
  );
