import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../schema/schema.ts';
import { scopeOf } from './compile.ts';
import { celValue } from './schema-types.ts';

const text: Schema = { type: 'string' };
const whole: Schema = { type: 'integer' };

const schema: Schema = {
  type: 'object',
  properties: {
    s: text,
    n: whole,
    d: { type: 'number' },
    list: { type: 'array', items: text },
    numbers: { type: 'array', items: whole },
    set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    objects: { type: 'array', items: { type: 'object', properties: { name: text, port: whole } } },
    map: { type: 'object', additionalProperties: whole },
    either: { 'x-kubernetes-int-or-string': true },
    time: { type: 'string', format: 'date-time' },
    duration: { type: 'string', format: 'duration' },
    bytes: { type: 'string', format: 'byte' },
    nothing: { type: 'string', nullable: true },
    namespace: text,
    'a-b': whole,
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

const value = {
  s: 'abc',
  n: 3,
  d: 2,
  list: ['b', 'a', 'b'],
  numbers: [1, 2, 3],
  set: ['x', 'y'],
  objects: [{ name: 'one', port: 1 }, { port: 2 }],
  map: { k: 1, l: 2 },
  either: '50%',
  time: '2024-02-03T04:05:06Z',
  duration: '90s',
  bytes: 'YWJj',
  nothing: null,
  namespace: 'default',
  'a-b': 7,
  free: { x: 1 },
};

const compile = (source: string, optional = false) => {
  const scope = scopeOf(schema, false);
  assert.ok(scope);
  return scope.compile(source, optional);
};

const evaluate = (source: string): unknown => {
  const program = compile(source);
  if ('failure' in program) return program.failure;
  return program.run({ self: celValue(value, schema) });
};

const truths = [
  'self.n + 1 == 4 && self.n < 3.5',
  'self.d == 2.0',
  'self.objects.all(o, o.port > 0)',
  'self.objects.exists(o, o.port == 2)',
  'self.objects.exists_one(o, o.port == 2)',
  'self.objects.filter(o, has(o.name)).size() == 1',
  'self.objects.map(o, o.port) == [1, 2]',
  'has(self.objects[0].name) && !has(self.objects[1].name)',
  'self.objects[1].?name.orValue("none") == "none"',
  'self.map.all(k, self.map[k] > 0) && "k" in self.map',
  'self.list.all(x, self.list.exists(y, x == y))',
  'self.set == ["y", "x"]',
  'self.list != ["a", "b", "b"]',
  'type(self.either) == string && self.either.matches("^[0-9]+%$")',
  'self.time > timestamp("2024-01-01T00:00:00Z") && self.time.getFullYear() == 2024',
  'self.duration < duration("2m") && self.duration == duration("1m30s")',
  'self.bytes == b"abc"',
  'has(self.nothing) && dyn(self.nothing) == null',
  'self.__namespace__ == "default" && self.a__dash__b == 7',
  'self.numbers.sum() == 6 && self.numbers.min() == 1 && self.numbers.max() == 3 && self.numbers.isSorted()',
  '!self.list.isSorted() && self.list.indexOf("b") == 0 && self.list.lastIndexOf("b") == 2',
  'self.list.distinct() == ["b", "a"] && self.list.sort() == ["a", "b", "b"]',
  'sets.contains(self.list, ["a"]) && sets.equivalent(self.list, ["a", "b"]) && !sets.intersects(self.list, ["z"])',
  '"a1b22".find("[0-9]+") == "1" && "a1b22".findAll("[0-9]+") == ["1", "22"] && "a1b22".findAll("[0-9]+", 1) == ["1"]',
  'self.s.replace("b", "x") == "axc" && "aaa".replace("a", "b", 2) == "bba" && self.s.charAt(1) == "b" && self.s.reverse() == "cba"',
  '"%s is %d, %.2f, %x".format([self.s, self.n, self.d, 255]) == "abc is 3, 2.00, ff"',
  'quantity("1Gi").isGreaterThan(quantity("1000M")) && quantity("500m").add(quantity("0.5")) == quantity("1")',
  'isQuantity("1Ki") && !isQuantity("1 Ki") && quantity("2k").asInteger() == 2000',
  'isURL("https://a.io:80/x") && url("https://a.io:8080/x?y").getHostname() == "a.io" && url("https://a.io:8080").getPort() == "8080"',
  'isIP("10.0.0.1") && ip("::1").family() == 6 && cidr("10.0.0.0/8").containsIP("10.1.2.3") && !isCIDR("10.0.0.0/33")',
  'self.s in [self.__namespace__, "abc"] && dyn(self) != null && self != null',
  '"a(b".matches("a\\\\(b") && !"b".matches("^a")',
];

const refusals: [source: string, issue: RegExp][] = [
  ['self.zz == 1', /:1:5: undefined field 'zz'/],
  ['has(self.zz)', /:1:4: undefined field 'zz'/],
  ['has(self.s) && self.zz == 1', /:1:20: undefined field 'zz'/],
  ['self.free.x == 1', /undefined field 'x'/],
  ['foo == 1', /:1:1: undeclared reference to 'foo' \(in container ''\)/],
  ['self.s.foo()', /:1:11: undeclared reference to 'foo'/],
  ['cel.bind(x, 1, x == 1)', /undeclared reference to 'bind'/],
  ['self.s + 1 == 2', /:1:8: found no matching overload for '_\+_' applied to '\(string, int\)'/],
  ['self.s.matches("[")', /:1:16: invalid matches argument/],
  ['self.n in [1, "a"]', /:1:15: expected type 'int' but found 'string'/],
  ['self.s ==', /:1:10: Syntax error/],
  ['self.n ? true : false', /ERROR/],
  ['!self.n', /:1:1: found no matching overload for '!_' applied to '\(int\)'/],
  ['self.s.foo', /:1:7: type 'string' does not support field selection/],
  ['self.s.startsWith(1)', /:1:18: found no matching overload for 'startsWith' applied to 'string.\(int\)'/],
  ['size(self.n) == 1', /:1:5: found no matching overload for 'size' applied to '\(int\)'/],
  ['self.either in [self.either, 1]', /expected type 'dyn' but found 'int'/],
  ['self.list.all(i, x, x == "")', /the embedded server does not have 'all' with two variables/],
  ['self.list.sortBy(x, x) == []', /the embedded server does not have 'sortBy'/],
];

describe('compile', () => {
  for (const source of truths) it(`evaluates ${source}`, () => assert.equal(evaluate(source), true));

  for (const [source, issue] of refusals) {
    it(`refuses ${source}`, () => {
      const program = compile(source);
      assert.ok('failure' in program, source);
      assert.match(program.failure, issue);
    });
  }

  it('marks the position below the line', () => {
    const program = compile('self.s == "x" &&\nself.zz');
    assert.deepEqual(program, { failure: "ERROR: <input>:2:5: undefined field 'zz'\n | self.zz\n | ....^" });
  });

  it('distinguishes transition rules from others', () => {
    const uses = (source: string): boolean => {
      const program = compile(source);
      return 'usesOldSelf' in program && program.usesOldSelf;
    };
    assert.equal(uses('self == oldSelf'), true);
    assert.equal(uses('self.s == "oldSelf"'), false);
  });

  it('treats an optional old value as optional', () => {
    assert.ok('failure' in compile('oldSelf.hasValue()'));
    assert.ok('run' in compile('oldSelf.hasValue()', true));
  });

  it('knows no fields of a schema without properties', () => {
    assert.equal(scopeOf({}, false), undefined);
  });

  it('does not backtrack exponentially', () => {
    assert.equal(evaluate(`"${'a'.repeat(5000)}!".matches("^(a+)+$")`), false);
  });
});
