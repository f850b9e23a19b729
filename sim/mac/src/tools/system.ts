import { createHash } from 'node:crypto';
import type { Machine, Tool } from '../machine.ts';
import { hostNames } from './scutil.ts';

const version = { ProductName: 'macOS', ProductVersion: '26.0', BuildVersion: '25A354' } as const;
const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const cTime = (date: Date): string => {
  const clock = date.toISOString().slice(11, 19);
  const day = String(date.getUTCDate()).padStart(2, ' ');
  return `${weekdays[date.getUTCDay()] ?? ''} ${months[date.getUTCMonth()] ?? ''} ${day} ${clock} ${date.getUTCFullYear()}`;
};

/** `{ sec = N, usec = N } date`: a new boot is a new number. */
const bootTimeText = (milliseconds: number): string => {
  const seconds = Math.floor(milliseconds / 1000);
  const micro = Math.floor((milliseconds - seconds * 1000) * 1000);
  return `{ sec = ${seconds}, usec = ${micro} } ${cTime(new Date(milliseconds))}`;
};

/** A new one per boot, in upper case. XNU makes it at random; here it follows from the Mac and the boot. */
const bootSession = ({ root, bootTime }: Machine): string => uuidOf(`${root} ${bootTime()}`);

const uuidOf = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex').toUpperCase();
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
};

/** sysctl(8) of an M4 mini: reading only. */
export const createSysctl =
  (machine: Machine): Tool =>
  ({ args }) => {
    const known: Readonly<Record<string, string>> = {
      'kern.bootsessionuuid': bootSession(machine),
      'kern.boottime': bootTimeText(machine.bootTime()),
      'kern.osproductversion': version.ProductVersion,
      'kern.osversion': version.BuildVersion,
      'kern.hostname': hostNames(machine).HostName ?? `${hostNames(machine).LocalHostName ?? 'Mac'}.local`,
      // Sizes its tables by memory; a mini of 16 GB (`sysctl kern.maxproc`).
      'kern.maxproc': '4000',
      // 1 normal, 2 warning, 4 critical (XNU, kern_memorystatus.c: `kVMPressureNormal` and so on, as it is shown).
      'kern.memorystatus_vm_pressure_level': '1',
      'hw.memsize': '17179869184',
      'hw.ncpu': '10',
      'hw.physicalcpu': '10',
      'hw.logicalcpu': '10',
      'hw.model': 'Mac16,10',
      'machdep.cpu.brand_string': 'Apple M4',
    };
    const bare = args.includes('-n');
    const asked = args.filter((argument) => !argument.startsWith('-'));
    if (asked.length === 0) return { code: 1, stderr: 'usage: sysctl [-bdehiNnoqx] name[=value] ...\n' };
    let code = 0;
    let stdout = '';
    let stderr = '';
    for (const name of asked) {
      const value = known[name];
      if (value === undefined) {
        code = 1;
        stderr += `sysctl: unknown oid '${name}'\n`;
      } else stdout += bare ? `${value}\n` : `${name}: ${value}\n`;
    }
    return { code, stdout, stderr };
  };

/** ioreg(8), for the one entry that tells Macs apart: `IOPlatformUUID`, which a new system does not change. */
export const createIoreg =
  ({ root }: Machine): Tool =>
  ({ args }) =>
    args.includes('IOPlatformExpertDevice')
      ? {
          code: 0,
          stdout: `+-o J773gAP  <class IOPlatformExpertDevice, registered, matched, active>\n    {\n      "model" = <"Mac16,10">\n      "IOPlatformUUID" = "${uuidOf(root)}"\n    }\n\n`,
        }
      : { code: 0, stdout: '' };

export const swVers: Tool = ({ args: [flag] }) => {
  const name = flag?.replace(/^--?/, '').toLowerCase();
  const found = Object.entries(version).filter(([key]) => name === undefined || key.toLowerCase() === name);
  if (found.length === 0)
    return { code: 1, stderr: 'Usage: sw_vers [--productName|--productVersion|--buildVersion]\n' };
  return {
    code: 0,
    stdout: found.map(([key, value]) => (name === undefined ? `${key}:\t\t${value}\n` : `${value}\n`)).join(''),
  };
};

export const createHostname =
  (machine: Machine): Tool =>
  ({ args: [flag] }) => {
    const names = hostNames(machine);
    const full = names.HostName ?? `${names.LocalHostName ?? 'Mac'}.local`;
    return { code: 0, stdout: `${flag === '-s' ? (full.split('.')[0] ?? full) : full}\n` };
  };
