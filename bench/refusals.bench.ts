import { type Figure, median } from './figure.ts';
import { type Day, simulateDay } from './refusals/day.ts';
import { sizeFrom } from './size.ts';

/**
 * What locked hosts cost the others. Hosts are released at the start of a simulated day, and Scaleway refuses to reinstall them with a 423.
 * During the day machines come and go. The same day without locked hosts is the peer. The manager, Kubernetes and Scaleway share this
 * process and a virtual clock; Scaleway has its real speed, and the client its default rate limit.
 */

export const size = {
  hosts: sizeFrom('TARTAN_BENCH_HOSTS', 500),
  locked: sizeFrom('TARTAN_BENCH_LOCKED', 50),
  hours: sizeFrom('TARTAN_BENCH_HOURS', 24),
};

/** The default of the client: `rate` of `createHostPool`. */
const requestsPerSecond = 10;

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  const { hosts, locked, hours } = size;
  const simulate = async (isLocked: boolean): Promise<Day> => {
    const began = performance.now();
    const day = await simulateDay({ hosts, released: locked, locked: isLocked, hours });
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    const slowest = Math.max(...day.claims).toFixed(0);
    say(
      `${hours} h ${isLocked ? 'with' : 'without'} locked hosts, simulated in ${seconds} s: ${day.requests} requests to Scaleway, ${sum(day.aboutReleased)} of them about the released hosts (${day.aboutReleased.join(' ')} by the hour), ${day.imageLists} lists of images; ${day.claims.length} claims, median ${median(day.claims).toFixed(0)} s, slowest ${slowest} s`,
    );
    return day;
  };
  const plain = await simulate(false);
  const stuck = await simulate(true);
  // Lists of images name no host: what exceeds those of the other day counts.
  const extraLists = Math.max(0, stuck.imageLists - plain.imageLists);
  const hourlyBudget = requestsPerSecond * 3600;
  return [
    {
      what: `share of the rate budget that ${locked} locked hosts of ${hosts} use in ${hours} h`,
      value: ((sum(stuck.aboutReleased) + extraLists) / (hourlyBudget * hours)) * 100,
      unit: '%',
      goal: '<= 10',
    },
    {
      what: 'the same in the busiest hour, without lists of images',
      value: (Math.max(...stuck.aboutReleased) / hourlyBudget) * 100,
      unit: '%',
      goal: '<= 10',
    },
    {
      what: 'time of a claim, against a day without locked hosts',
      value: median(stuck.claims) / median(plain.claims),
      unit: 'ratio',
      goal: '<= 1.2',
    },
    {
      what: 'time of the slowest claim, against a day without locked hosts',
      value: Math.max(...stuck.claims) / Math.max(...plain.claims),
      unit: 'ratio',
      goal: '<= 1.2',
    },
  ];
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
