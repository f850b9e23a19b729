import { runnersLeaderElectionID } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import { type Case, type Fault, notScraped, once } from './fault.ts';
import type { Harness } from './harness.ts';
import { condition } from './objects.ts';
import { poolWith, runnerPod, type RunnersState, unbootedPod } from './runners.ts';

const minute = 60_000;

const onController = { job: 'runners', namespace: 'tartan', pod: 'runners-0', instance: '192.0.2.4:8080' };
const inPool = { namespace: 'tartan', pool: 'macos' };

const poolsBecome = (change: (harness: Harness) => Partial<RunnersState>): Fault =>
  once((harness) => {
    harness.pools = { ...harness.pools, ...change(harness) };
  });

/** One job has waited since the fault began, with so many idle runners. */
const jobWaits = (warm: number): Fault =>
  poolsBecome(({ clock }) => ({
    pool: poolWith({
      queue: { jobs: 1, oldestSince: timestamp(clock.now()), observedAt: timestamp(clock.now()) },
    }),
    pods: ['a', 'b', 'c'].map((name, index) => runnerPod(name, index < warm ? 'warm' : 'busy')),
  }));

/** Over before the alert fires. */
const untilMinute =
  (end: number, fault: Fault): Fault =>
  (harness, since) => {
    fault(harness, since);
    if (since === end) poolsBecome(() => ({ pool: poolWith(), pods: [] }))(harness, 0);
  };

const githubIs = (status: 'True' | 'False', reason: string): Fault =>
  poolsBecome(() => ({ pool: poolWith({ conditions: [condition('GitHubReachable', status, reason)] }) }));

const stuck = condition('Stuck', 'True', 'PodsSilent');

const left =
  (calls: number): Fault =>
  ({ runners: [leader] }) =>
    leader.metrics.github.call('github-app', {
      method: 'GET',
      route: '/orgs/{org}/actions/runners',
      status: 200,
      remaining: calls,
    });

const outdated = poolsBecome(() => ({
  pool: poolWith({ conditions: [condition('RunnerOutdated', 'True', 'UpdateDue')] }),
}));

/** By the name of the alert. */
export const runnerCases: Readonly<Record<string, Case>> = {
  TartanRunnerOutdated: {
    fault: outdated,
    after: 60,
    labels: inPool,
    nearMiss: untilMinute(59, outdated),
  },
  TartanJobsWait: {
    fault: jobWaits(0),
    // More than half an hour, for five minutes.
    after: 36,
    labels: inPool,
    nearMiss: untilMinute(30, jobWaits(0)),
  },
  TartanJobsStarved: {
    fault: jobWaits(1),
    after: 15,
    labels: inPool,
    value: 1,
    // All runners have a job: the waiting one is next.
    nearMiss: jobWaits(0),
  },
  TartanRunnerPodsStuckTerminating: {
    fault: poolsBecome(({ clock }) => ({
      pods: [runnerPod('a', 'warm', { deletionTimestamp: timestamp(clock.now()) })],
    })),
    after: 21,
    labels: inPool,
    nearMiss: (harness, since) => {
      // One Pod is replaced by another.
      if (since % 15 === 0)
        poolsBecome(({ clock }) => ({
          pods: [runnerPod('a', 'warm', { deletionTimestamp: timestamp(clock.now()) })],
        }))(harness, 0);
    },
  },
  TartanRunnerPodNotStarted: {
    fault: poolsBecome(({ clock }) => ({ pods: [unbootedPod('a', clock.now())] })),
    after: 36,
    labels: inPool,
    nearMiss: (harness, since) => {
      if (since % 30 === 0) poolsBecome(({ clock }) => ({ pods: [unbootedPod('a', clock.now())] }))(harness, 0);
    },
  },
  TartanRunnersSilent: {
    fault: poolsBecome(() => ({ pool: poolWith({ conditions: [stuck] }) })),
    after: 15,
    labels: inPool,
    // That has its own alert.
    nearMiss: poolsBecome(({ clock }) => ({
      pool: poolWith({ conditions: [stuck] }),
      pods: [unbootedPod('a', clock.now() - 11 * minute)],
    })),
  },
  TartanPoolTooSmall: {
    fault: poolsBecome(() => ({ pods: [] })),
    // With the five minutes before and the two since, the average is below two thirds; it stays there for thirty more.
    after: 32,
    labels: inPool,
    // One of three is always starting.
    nearMiss: poolsBecome(({ clock }) => ({
      pods: [runnerPod('a', 'warm'), runnerPod('b', 'busy'), unbootedPod('c', clock.now())],
    })),
  },
  TartanGitHubUnreachable: {
    fault: githubIs('False', 'Denied'),
    after: 15,
    labels: inPool,
    nearMiss: (harness, since) => {
      if (since % 20 === 0) githubIs('False', 'Unavailable')(harness, 0);
      if (since % 20 === 14) githubIs('True', 'Reachable')(harness, 0);
    },
  },
  TartanGitHubLimitNearlyReached: {
    fault: left(499),
    after: 5,
    labels: { namespace: 'tartan', app: 'github-app' },
    value: 499,
    nearMiss: left(500),
  },
  TartanNobodyLeadsRunners: {
    fault: once(({ runners: [leader] }) => leader.metrics.setLeader(runnersLeaderElectionID, false)),
    after: 5,
    labels: { namespace: 'tartan', name: runnersLeaderElectionID },
    value: 0,
    nearMiss: ({ runners: [leader] }, since) =>
      leader.metrics.setLeader(runnersLeaderElectionID, since >= 5, since >= 5 ? 4 : undefined),
  },
  TartanRunnersNotScraped: {
    fault: notScraped(({ runners }) => [...runners]),
    after: 10,
    labels: { name: runnersLeaderElectionID },
    nearMiss: notScraped(({ runners: [leader] }) => [leader]),
  },
};

/** Rules for all of Tartan's controllers: the same fault in this one. */
export const runnerControllerFaults: Readonly<Record<string, Omit<Case, 'nearMiss'>>> = {
  TartanLeaderFlapping: {
    fault: ({ runners: [leader] }, since) =>
      leader.metrics.setLeader(runnersLeaderElectionID, true, 3 + Math.min(5, since)),
    after: 4,
    labels: { namespace: 'tartan', name: runnersLeaderElectionID },
  },
  TartanReconcilePanics: {
    fault: once(({ runners: [leader] }) =>
      leader.metrics.controller('runner-pool').ended({ result: 'error', seconds: 1, terminal: false, defect: true }),
    ),
    after: 0,
    labels: { ...onController, controller: 'runner-pool' },
  },
  TartanWorkerStuck: {
    fault: once(({ runners: [leader] }) => {
      const queue = leader.metrics.queue('runner-pool');
      queue.added('a');
      queue.taken('a');
    }),
    after: 66,
    labels: { ...onController, name: 'runner-pool', controller: 'runner-pool' },
  },
};
