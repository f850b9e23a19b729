/** A job of launchd, as far as we use them. Whatever is absent is left to launchd. */
export interface LaunchdJob {
  readonly label: string;
  /** The program by its full path, and its arguments: words, never quoted for a shell (INC-226). */
  readonly arguments: readonly string[];
  /** Who runs it; root when absent. */
  readonly user?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  readonly runAtLoad?: boolean;
  readonly keepAlive?: boolean;
  /** Seconds between two starts; launchd never goes below 10. */
  readonly throttleInterval?: number;
  /** Seconds between two runs of a job that ends by itself. */
  readonly startInterval?: number;
  /** Standard output and standard error. Must be writable by `user`, or the job never starts (EX_CONFIG 78). */
  readonly log?: string;
  /** Seconds between SIGTERM and SIGKILL. */
  readonly exitTimeOut?: number;
  readonly processType?: 'Background' | 'Standard' | 'Adaptive' | 'Interactive';
  /** Lets what the job started live on when the job itself ends. */
  readonly abandonProcessGroup?: boolean;
}

type Value = string | number | boolean | readonly string[] | Readonly<Record<string, string>> | undefined;

// XML 1.0 has no way to write these, escaped or not: launchd would refuse the whole file.
const invalidInXML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

/** Text for XML: a single `&` would make the file unloadable, with no other symptom (INC-226). */
const escapeXML = (text: string): string => {
  if (invalidInXML.test(text)) throw new TypeError(`${JSON.stringify(text)} cannot be written into a property list`);
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;');
};

const isList = (value: object): value is readonly string[] => Array.isArray(value);

const element = (value: Exclude<Value, undefined>, indent: string): string => {
  if (typeof value === 'string') return `<string>${escapeXML(value)}</string>`;
  if (typeof value === 'boolean') return `<${value}/>`;
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is no whole number for a property list`);
    return `<integer>${value}</integer>`;
  }
  const inner = isList(value)
    ? value.map((item) => `${indent}\t${element(item, `${indent}\t`)}\n`)
    : entries(value, `${indent}\t`);
  const name = isList(value) ? 'array' : 'dict';
  return `<${name}>\n${inner.join('')}${indent}</${name}>`;
};

/** Sorted by key, so that the same job is the same bytes. */
const entries = (dictionary: Readonly<Record<string, Value>>, indent: string): string[] =>
  Object.keys(dictionary)
    .sort()
    .flatMap((key) => {
      const value = dictionary[key];
      return value === undefined ? [] : [`${indent}<key>${escapeXML(key)}</key>\n${indent}${element(value, indent)}\n`];
    });

/**
 * The property list of a job. The same job always yields the same bytes: hosts compare them to tell a restart from a new
 * registration, of which macOS allows only so many (INC-09).
 */
export const renderPlist = (job: LaunchdJob): string => {
  const dictionary: Record<string, Value> = {
    Label: job.label,
    UserName: job.user,
    ProgramArguments: job.arguments,
    EnvironmentVariables: job.environment,
    WorkingDirectory: job.workingDirectory,
    RunAtLoad: job.runAtLoad,
    KeepAlive: job.keepAlive,
    ThrottleInterval: job.throttleInterval,
    StartInterval: job.startInterval,
    StandardOutPath: job.log,
    StandardErrorPath: job.log,
    ExitTimeOut: job.exitTimeOut,
    ProcessType: job.processType,
    AbandonProcessGroup: job.abandonProcessGroup,
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    `<dict>\n${entries(dictionary, '\t').join('')}</dict>`,
    '</plist>',
    '',
  ].join('\n');
};
