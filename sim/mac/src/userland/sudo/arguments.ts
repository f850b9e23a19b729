export interface SudoArguments {
  readonly nonInteractive: boolean;
  readonly fromStdin: boolean;
  readonly user: string;
  readonly setHome: boolean;
  readonly keepEnvironment: boolean;
  readonly shell: boolean;
  readonly action: 'run' | 'validate' | 'forget' | 'list';
  readonly prompt: string;
  /** `NAME=value` before the command. */
  readonly assignments: readonly string[];
  readonly command: readonly string[];
}

const flags: Readonly<Record<string, Partial<SudoArguments>>> = {
  n: { nonInteractive: true },
  S: { fromStdin: true },
  H: { setHome: true },
  E: { keepEnvironment: true },
  v: { action: 'validate' },
  k: { action: 'forget' },
  K: { action: 'forget' },
  l: { action: 'list' },
  s: { shell: true },
  i: { shell: true, setHome: true },
  b: {},
};

const longFlags: Readonly<Record<string, string>> = {
  '--non-interactive': 'n',
  '--stdin': 'S',
  '--set-home': 'H',
  '--preserve-env': 'E',
  '--validate': 'v',
  '--reset-timestamp': 'k',
  '--list': 'l',
};

const isAssignment = (word: string): boolean => /^[A-Za-z_]\w*=/.test(word);

/** As sudo(8) parses them, or the unknown option. */
export const parseSudoArguments = (words: readonly string[]): SudoArguments | { readonly unknown: string } => {
  let result: SudoArguments = {
    nonInteractive: false,
    fromStdin: false,
    user: 'root',
    setHome: false,
    keepEnvironment: false,
    shell: false,
    action: 'run',
    prompt: 'Password:',
    assignments: [],
    command: [],
  };
  const left = [...words];
  for (let word = left[0]; word?.startsWith('-'); word = left[0]) {
    left.shift();
    if (word === '--') break;
    let letters = longFlags[word] ?? (word.startsWith('--') ? undefined : word.slice(1));
    if (letters === undefined || letters === '') return { unknown: word };
    while (letters !== '') {
      const [letter = ''] = letters;
      letters = letters.slice(1);
      const flag = flags[letter];
      if (flag !== undefined) {
        result = { ...result, ...flag };
        continue;
      }
      const value = letters === '' ? left.shift() : letters;
      letters = '';
      if (letter === 'u' && value !== undefined) result = { ...result, user: value };
      else if (letter === 'p' && value !== undefined) result = { ...result, prompt: value };
      else return { unknown: `-${letter}` };
    }
  }
  const assignments: string[] = [];
  for (let word = left[0]; word !== undefined && isAssignment(word); word = left[0])
    assignments.push(...left.splice(0, 1));
  // `-k` with a command runs it, ignoring cached credentials (sudo(8)).
  const action = result.action === 'forget' && left.length > 0 ? 'run' : result.action;
  return { ...result, action, assignments, command: left };
};
