#include "tests/sim/sim.h"

/* Mostly near the base; one in thirty waits in a queue, one in three hundred long. */
static uint64_t delay_ns(sim_t *sim, const sim_host_config_t *machine, size_t direction)
{
    uint64_t base_ns = machine->base_ns[direction];
    uint64_t ns = base_ns + rb_rng_below(&sim->rng, base_ns / 4 + 1);
    if (rb_rng_below(&sim->rng, 30) == 0)
        ns += rb_rng_below(&sim->rng, 5 * base_ns + 1);
    if (rb_rng_below(&sim->rng, 300) == 0)
        ns += rb_rng_below(&sim->rng, machine->tail_ns + 1);
    return RB_MIN(ns, SIM_MAX_DELAY_NS);
}

void sim_send(sim_t *sim, sim_event_kind_t kind, uint32_t host, rb_bytes_t frame)
{
    sim_link_t *link = &sim->links[host];
    size_t direction = kind == SIM_TO_AGENT ? 0 : 1;
    if (!link->up) {
        rb_bytes_clear(&frame);
        return;
    }
    uint64_t at_ns = sim->now_ns + delay_ns(sim, &sim->config.machines[host - 1], direction);
    at_ns = RB_MAX(at_ns, link->last_ns[direction]);
    link->last_ns[direction] = at_ns;
    sim_push(sim,
             (sim_event_t){
                 .at_ns = at_ns, .kind = kind, .host = host, .epoch = link->epoch, .frame = frame});
}

void sim_connect(sim_t *sim, uint32_t host)
{
    sim_link_t *link = &sim->links[host];
    if (!link->up)
        link->since_ns = sim->now_ns;
    link->up = true;
    link->last_ns[0] = link->last_ns[1] = 0;
}

void sim_break(sim_t *sim, uint32_t host, uint64_t length_ns)
{
    sim_link_t *link = &sim->links[host];
    sim_log(sim, "link %u breaks for %.3f s", host, (double)length_ns / 1e9);
    link->up = false;
    link->epoch++;
    if (length_ns != 0)
        sim_push(sim, (sim_event_t){.at_ns = sim->now_ns + length_ns,
                                    .kind = SIM_LINK_UP,
                                    .host = host,
                                    .epoch = link->epoch});
}
