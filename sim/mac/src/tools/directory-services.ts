import type { Machine, Tool } from '../machine.ts';

const recordOf = (machine: Machine, name: string): Readonly<Record<string, string>> | undefined => {
  if (name === 'root')
    return {
      UniqueID: '0',
      PrimaryGroupID: '0',
      UserShell: '/bin/sh',
      NFSHomeDirectory: '/var/root',
      RealName: 'System Administrator',
    };
  if (name !== machine.user.name) return undefined;
  return {
    UniqueID: String(machine.user.uid),
    PrimaryGroupID: '20',
    // sshd passes every command to zsh.
    UserShell: '/bin/zsh',
    NFSHomeDirectory: `/Users/${name}`,
    RealName: name,
  };
};

/** dscl(1): `. -read /Users/NAME [KEY…]` and `. -list /Users`. */
export const createDscl =
  (machine: Machine): Tool =>
  ({ args: [, verb, path = '', ...keys] }) => {
    if ((verb === '-list' || verb === 'list') && path === '/Users')
      return { code: 0, stdout: `${['_www', 'daemon', machine.user.name, 'nobody', 'root'].join('\n')}\n` };
    if (verb !== '-read' && verb !== 'read') return { code: 64, stderr: 'dscl: this Mac only plays -read and -list\n' };
    const record = recordOf(machine, path.replace(/^\/Users\//, ''));
    if (record === undefined) return { code: 56, stderr: '<dscl_cmd> DS Error: -14136 (eDSRecordNotFound)\n' };
    const asked = keys.length === 0 ? Object.keys(record) : keys;
    return {
      code: 0,
      stdout: asked
        .map((key) => (record[key] === undefined ? `No such key: ${key}\n` : `${key}: ${record[key]}\n`))
        .join(''),
    };
  };

/** dscacheutil(1): flushing is silent; `-q user -a name NAME` prints one block, or nothing. */
export const createDscacheutil =
  (machine: Machine): Tool =>
  ({ args, asRoot }) => {
    if (args[0] === '-flushcache') {
      machine.journal.record('dns.flush', asRoot ? 'root' : machine.user.name);
      return { code: 0 };
    }
    const [, category, , attribute, value = ''] = args;
    if (args[0] !== '-q' || category !== 'user' || attribute !== 'name') return { code: 0 };
    const record = recordOf(machine, value);
    if (record === undefined) return { code: 0 };
    return {
      code: 0,
      stdout: `name: ${value}\npassword: ********\nuid: ${record['UniqueID']}\ngid: ${record['PrimaryGroupID']}\ndir: ${record['NFSHomeDirectory']}\nshell: ${record['UserShell']}\ngecos: ${record['RealName']}\n\n`,
    };
  };
