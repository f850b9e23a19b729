/** One line of a sudoers file that grants a right. */
interface Grant {
  readonly who: string;
  readonly noPassword: boolean;
  readonly commands: readonly string[];
}

export type Sudoers = { readonly grants: readonly Grant[] } | { readonly errorInLine: number };

const grantLine = /^(?<who>\S+)\s+(?<host>\S+)\s*=\s*(?:\((?<runas>[^)]*)\)\s*)?(?<rest>\S.*)$/;
const tag = /^(?<tag>NOPASSWD|PASSWD|SETENV|NOSETENV|NOEXEC|EXEC):\s*/;
const command = /^!?(?:ALL|sudoedit|\/\S+(?:\s.*)?)$/;

const parseGrant = (line: string): Grant | undefined => {
  const { who, rest } = grantLine.exec(line)?.groups ?? {};
  if (who === undefined || rest === undefined) return undefined;
  let noPassword = false;
  let commands = rest;
  for (let found = tag.exec(commands); found !== null; found = tag.exec(commands)) {
    if (found.groups?.['tag'] === 'NOPASSWD') noPassword = true;
    if (found.groups?.['tag'] === 'PASSWD') noPassword = false;
    commands = commands.slice(found[0].length);
  }
  const list = commands.split(',').map((each) => each.trim());
  return list.every((each) => command.test(each)) ? { who, noPassword, commands: list } : undefined;
};

/** The part of sudoers(5) that grants rights to users and groups. Anything else except comments, Defaults and aliases is a syntax error. */
export const parseSudoers = (text: string): Sudoers => {
  const grants: Grant[] = [];
  for (const [index, raw] of text.replaceAll('\\\n', ' ').split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || /^(#|@include|Defaults\b|(User|Runas|Host|Cmnd)_Alias\s)/.test(line)) continue;
    const grant = parseGrant(line);
    if (grant === undefined) return { errorInLine: index + 1 };
    grants.push(grant);
  }
  return { grants };
};

/** sudo silently skips files in an include folder whose names contain a dot or end in a tilde. */
export const isIncludedFile = (name: string): boolean => !name.includes('.') && !name.endsWith('~');

/** Whether a command needs no password: the last grant for user and command decides. */
export const needsNoPassword = (
  grants: readonly Grant[],
  user: string,
  groups: readonly string[],
  path: string,
): boolean => {
  const about = grants.filter(
    ({ who, commands }) =>
      (who === 'ALL' || who === user || groups.some((group) => who === `%${group}`)) &&
      commands.some((each) => each === 'ALL' || each.split(' ')[0] === path),
  );
  return about.at(-1)?.noPassword === true;
};
