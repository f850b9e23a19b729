import { diskSize, type Disk } from '../disk.ts';
import type { Tool } from '../machine.ts';

const units: Readonly<Record<string, { readonly bytes: number; readonly heading: string }>> = {
  b: { bytes: 512, heading: '512-blocks' },
  k: { bytes: 1024, heading: '1024-blocks' },
  m: { bytes: 1024 ** 2, heading: '1M-blocks' },
  g: { bytes: 1024 ** 3, heading: '1G-blocks' },
};

const human = (bytes: number): string => {
  const power = bytes < 1024 ? 0 : Math.floor(Math.log2(bytes) / 10);
  return `${Math.round(bytes / 1024 ** power)}${['B', 'Ki', 'Mi', 'Gi', 'Ti'][power] ?? ''}`;
};

/** df(1) of BSD, of the one volume that a Mac mini comes with. */
export const createDf =
  (disk: Disk): Tool =>
  ({ args }) => {
    const letters = args.filter((arg) => arg.startsWith('-')).flatMap((arg) => arg.slice(1).split(''));
    const unknown = letters.find((letter) => !'bkmghHPlain'.includes(letter));
    if (unknown !== undefined)
      return {
        code: 64,
        stderr: `df: illegal option -- ${unknown}\nusage: df [-b | -g | -H | -h | -k | -m | -P] [file | filesystem ...]\n`,
      };
    const free = disk.free();
    const used = diskSize - free;
    const capacity = `${Math.ceil((used / diskSize) * 100)}%`;
    const unit = units[letters.findLast((letter) => letter in units) ?? 'b'];
    const inHuman = letters.includes('h') || letters.includes('H');
    const amount = (bytes: number): string =>
      inHuman || unit === undefined ? human(bytes) : String(Math.floor(bytes / unit.bytes));
    const heading = inHuman || unit === undefined ? 'Size' : unit.heading;
    const files = letters.includes('P') ? '' : ' iused ifree %iused ';
    const counts = letters.includes('P') ? '' : ` 426000 ${Math.floor(free / 4096)} 1% `;
    return {
      code: 0,
      stdout: `Filesystem ${heading} Used Available Capacity${files} Mounted on\n/dev/disk3s5 ${amount(diskSize)} ${amount(used)} ${amount(free)} ${capacity}${counts} /System/Volumes/Data\n`,
    };
  };
