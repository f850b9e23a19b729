/** The tasks of both clients, each in its own process. */
export interface Program {
  get(name: string): Promise<unknown>;
  listNodes(): Promise<readonly unknown[]>;
  /** Watches the ConfigMaps of a namespace forever; resolves when it has caught up. */
  follow(namespace: string): Promise<void>;
}

const collected = (): NodeJS.MemoryUsage => {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage();
};

const printFigures = (figures: Record<string, number>): void => {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
};

/** Runs the task from the command line, and prints its figures as JSON. */
export const runTask = async (program: Program): Promise<void> => {
  const [task = '', amount = '0'] = process.argv.slice(2);
  const count = Number(amount);
  switch (task) {
    case 'get': {
      for (let warm = 0; warm < 50; warm++) await program.get('node-0');
      const started = performance.now();
      for (let done = 0; done < count; done++) await program.get('node-0');
      printFigures({ milliseconds: (performance.now() - started) / count });
      break;
    }
    case 'list': {
      await program.get('node-0');
      const before = collected().heapUsed;
      const nodes = await program.listNodes();
      printFigures({ megabytes: (collected().heapUsed - before) / 1e6, nodes: nodes.length });
      break;
    }
    case 'watch': {
      await Promise.all(Array.from({ length: count }, (_, index) => program.follow(`idle-${index}`)));
      printFigures({ ready: 1 });
      process.once('SIGUSR2', () => {
        printFigures({ megabytes: collected().rss / 1e6 });
        process.exit(0);
      });
      setInterval(() => {}, 1_000_000);
      return;
    }
    default:
      throw new Error(`unknown task ${task}`);
  }
  process.exit(0);
};
