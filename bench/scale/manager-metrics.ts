/** A scrape of the manager's metrics: the sums over all series of a name that have these labels. */
export interface Scrape {
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

export const scrape = async (port: number): Promise<Scrape | undefined> => {
  const text = await fetch(`http://127.0.0.1:${port}/metrics`).then(
    (answer) => answer.text(),
    // It does not listen yet.
    () => undefined,
  );
  return text === undefined ? undefined : parse(text);
};

const parse = (text: string): Scrape => {
  const lines = text.split('\n');
  return {
    sum: (name, labels = {}) => {
      const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      return lines
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .filter((line) => wanted.every((pair) => line.includes(pair)))
        .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    },
  };
};
