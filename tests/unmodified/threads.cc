// SPDX-License-Identifier: GPL-2.0 OR MIT
// C++: producers and consumers as std::thread, an exception through a frame that used the device.
#include <atomic>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "contract.h"

namespace {

constexpr unsigned queues = 4;
constexpr uint32_t items = 400;

void produce(void *page, unsigned queue)
{
	while (load64(page, OPEN_PRODUCER, queue) == 0)
		std::this_thread::yield();
	for (uint32_t i = 0; i < items; i++)
		store32(page, PRODUCE, queue, queue * 1000000 + i);
	load64(page, CLOSE_PRODUCER, queue);
}

void consume(void *page, unsigned queue, std::vector<uint32_t> &taken)
{
	while (load64(page, OPEN_CONSUMER, queue) == 0)
		std::this_thread::yield();
	for (uint32_t i = 0; i < items; i++)
		taken.push_back(load32(page, CONSUME, queue));
	load64(page, CLOSE_CONSUMER, queue);
}

void throw_after_access(void *page)
{
	load64(page, DEBUG, 0);
	throw std::runtime_error("as planned");
}

}

int main()
{
	void *page = map_node("/dev/maple0", WORDS_16);
	std::vector<std::vector<uint32_t>> taken(queues);
	std::vector<std::thread> threads;
	bool caught = false;

	for (unsigned queue = 0; queue < queues; queue++) {
		threads.emplace_back(produce, page, queue);
		threads.emplace_back([&, queue] { consume(page, queue, taken[queue]); });
	}
	for (auto &thread : threads)
		thread.join();
	for (unsigned queue = 0; queue < queues; queue++) {
		std::vector<uint32_t> expected(items);

		std::iota(expected.begin(), expected.end(), queue * 1000000);
		CHECK(taken[queue] == expected);
	}
	try {
		throw_after_access(page);
	} catch (const std::runtime_error &) {
		caught = true;
	}
	CHECK(caught);
	return 0;
}
